from itertools import islice

from samsa_websocket.shim.backoff import QUICK_S, AskingPace, delays


def test_delays_begin_at_200_ms_double_and_are_capped():
    found = list(islice(delays(0.2, 3.0, lambda: 0.0), 6))
    assert found == [0.2, 0.4, 0.8, 1.6, 3.0, 3.0]


def test_chance_shortens_a_delay_by_up_to_half_and_not_the_next_one():
    draws = iter([1.0, 0.0, 0.5])
    assert list(islice(delays(0.2, 3.0, lambda: next(draws)), 3)) == [0.1, 0.4, 0.8 * 0.75]


def steady() -> AskingPace:
    return AskingPace(lambda: delays(0.2, 3.0, lambda: 0.0))


def test_three_quick_rounds_are_free_and_the_next_ones_are_slowed_down():
    pace = steady()
    assert [pace.after(0.0) for _ in range(6)] == [0, 0, 0, 0.2, 0.4, 0.8]


def test_a_round_that_took_its_time_makes_good_for_quick_ones():
    pace = steady()
    assert [pace.after(0.0) for _ in range(5)] == [0, 0, 0, 0.2, 0.4]
    assert pace.after(QUICK_S) == 0
    assert [pace.after(0.0) for _ in range(4)] == [0, 0, 0, 0.2]


def test_failures_are_slowed_down_from_the_first_on():
    pace = steady()
    assert [pace.after_failure() for _ in range(3)] == [0.2, 0.4, 0.8]
