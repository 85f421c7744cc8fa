"""The slowest that a client may send a request, or take an answer."""

from samsa.runtime.floor import Floor

RATE, GRACE_S = 10, 30.0


def looked_at(*looks: tuple[float, int | None, int]) -> list[bool]:
    floor = Floor()
    return [floor.is_slow(now, at, moved, RATE, GRACE_S) for now, at, moved in looks]


def test_a_client_that_sends_a_byte_now_and_then_is_slow_once_the_grace_is_over():
    looks = [(float(now), 1, 100_000 + now // 5) for now in range(0, 35, 5)]
    assert looked_at(*looks) == [False] * 6 + [True]


def test_what_was_sent_before_does_not_excuse_what_is_not_sent_now():
    assert looked_at((0, 1, 0), (30, 1, 10**9), (60, 1, 10**9 + 299)) == [False, False, True]


def test_a_client_at_the_floor_is_not_slow():
    assert looked_at((0, 1, 0), (30, 1, 300), (60, 1, 600)) == [False] * 3


def test_every_request_has_a_grace_of_its_own():
    assert looked_at((0, 1, 5), (29, 2, 5), (58, 3, 5), (87, 4, 5)) == [False] * 4


def test_a_client_that_waits_for_the_broker_is_not_slow():
    assert looked_at((0, 1, 5), (31, None, 5), (62, None, 5), (93, 1, 5)) == [False] * 4
