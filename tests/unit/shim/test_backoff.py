from itertools import islice

from samsa.shim.backoff import delays


def test_delays_begin_at_200_ms_double_and_are_capped():
    found = list(islice(delays(0.2, 3.0, lambda: 0.0), 6))
    assert found == [0.2, 0.4, 0.8, 1.6, 3.0, 3.0]


def test_chance_shortens_a_delay_by_up_to_half_and_not_the_next_one():
    draws = iter([1.0, 0.0, 0.5])
    assert list(islice(delays(0.2, 3.0, lambda: next(draws)), 3)) == [0.1, 0.4, 0.8 * 0.75]
