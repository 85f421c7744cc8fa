"""Rates that several processes count together."""

from collections import Counter

import hypothesis
import pytest
from hypothesis import strategies as st
from unit.security.given import PATIENT

from samsa.security.rates import Rate, TokenBucket
from samsa.security.shared_rates import (
    BURST_MS,
    LONGEST_DEBT_MS,
    SharedBucket,
    SharedRate,
    debt_ms,
    full_again_at,
    recent,
)

NOW_MS = 1_800_000_000_000
SECOND = NOW_MS // 1000


class Store:
    """What all processes have told."""

    def __init__(self) -> None:
        self.totals: Counter[int] = Counter()

    def take(self, rate: SharedRate, now_ms: int, limit: float = 1e9) -> None:
        if rate.is_due(limit, now_ms):
            self.totals.update(rate.tell(now_ms))
            rate.learn(dict(self.totals))


def test_a_burst_is_throttled_for_as_long_as_by_kafkas_rate():
    shared, alone = SharedRate(), Rate()
    for rate in (shared, alone):
        rate.record(50_000, NOW_MS)
    assert shared.throttle_ms(1000, NOW_MS) == alone.throttle_ms(1000, NOW_MS) == 40_000
    assert shared.measure(NOW_MS) == alone.measure(NOW_MS)


def test_what_others_have_told_counts_as_if_it_were_one_s_own():
    store, one, other = Store(), SharedRate(), SharedRate()
    one.record(60_000, NOW_MS)
    store.take(one, NOW_MS)
    other.record(60_000, NOW_MS)
    assert other.throttle_ms(10_000, NOW_MS) == 0
    store.take(other, NOW_MS)
    assert other.throttle_ms(10_000, NOW_MS) == 2_000


def test_between_two_updates_a_process_goes_by_both_what_it_learned_and_what_it_counted():
    store, rate = Store(), SharedRate()
    store.totals[SECOND] = 6_000
    store.take(rate, NOW_MS)
    rate.record(5_000, NOW_MS + 100)
    assert not rate.is_due(1e9, NOW_MS + 999)
    assert rate.measure(NOW_MS) == 1_100
    assert rate.is_due(1e9, NOW_MS + 1000)


def test_eleven_seconds_later_nothing_is_left():
    rate = SharedRate()
    rate.record(10**9, NOW_MS + 999)
    assert rate.measure(NOW_MS + 10_999) > 0
    assert rate.measure(NOW_MS + 11_000) == 0
    assert rate.is_idle(NOW_MS + 13_000)


def test_what_is_told_late_counts_for_as_long_as_what_is_told_at_once():
    rate = SharedRate()
    rate.record(500, NOW_MS)
    assert rate.tell(NOW_MS + 9_000) == {SECOND + 9: 500}


def test_what_was_counted_before_an_idle_time_is_not_told_after_it():
    rate = SharedRate()
    rate.record(500, NOW_MS)
    assert rate.tell(NOW_MS + 3_600_000) == {SECOND + 3600: 0}


def test_after_an_outage_the_last_seconds_are_told_as_of_when_they_were():
    """All at once they would throttle a client that was within its quota all the time."""
    rate = SharedRate()
    for second in range(600):
        now_ms = NOW_MS + second * 1000
        rate.record(900, now_ms)
        if rate.is_due(1000, now_ms):
            rate.tell(now_ms)
            rate.was_not_told()
        assert rate.throttle_ms(1000, now_ms) == 0
    told = rate.tell(now_ms)
    assert len(told) == 11
    rate.learn(told)
    assert rate.throttle_ms(1000, now_ms) == 0


def test_what_may_have_been_told_counts_here_and_is_not_told_again():
    rate = SharedRate()
    rate.record(500, NOW_MS)
    rate.tell(NOW_MS)
    rate.may_be_told()
    assert rate.measure(NOW_MS) == 50
    assert rate.tell(NOW_MS + 1000) == {}


def test_an_outage_takes_no_memory():
    rate = SharedRate()
    for second in range(600):
        now_ms = NOW_MS + second * 1000
        rate.record(900, now_ms)
        rate.tell(now_ms)
        rate.may_be_told()
        assert rate.throttle_ms(1000, now_ms) == 0
    assert len(rate._known) <= 13


def test_as_much_as_a_second_grants_is_told_at_once():
    rate = SharedRate()
    rate.tell(NOW_MS)
    rate.record(999, NOW_MS)
    assert not rate.is_due(1000, NOW_MS)
    rate.record(1, NOW_MS)
    assert rate.is_due(1000, NOW_MS)


def test_what_is_being_told_counts_already():
    rate = SharedRate()
    rate.record(500, NOW_MS)
    rate.tell(NOW_MS)
    assert rate.measure(NOW_MS) == 50


def test_a_clock_that_goes_back_leaves_nobody_throttled():
    rate = SharedRate()
    rate.record(10**9, NOW_MS)
    rate.tell(NOW_MS)
    rate.learn({SECOND: 10**9})
    earlier_ms = NOW_MS - 3_600_000
    assert rate.throttle_ms(1000, earlier_ms) == 0
    assert rate.is_due(1e9, earlier_ms)
    rate.record(20_000, earlier_ms)
    assert rate.throttle_ms(1000, earlier_ms) == 10_000


def test_others_clocks_may_be_a_little_ahead():
    rate = SharedRate()
    rate.tell(NOW_MS)
    rate.learn({SECOND + 2: 20_000, SECOND + 3: 10**9, SECOND - 11: 10**9})
    assert rate.throttle_ms(1000, NOW_MS) == 10_000


def test_corrections_never_make_a_rate_negative():
    rate = SharedRate()
    rate.record(-5_000, NOW_MS)
    assert rate.measure(NOW_MS) == 0


@PATIENT
@hypothesis.given(
    st.lists(
        st.tuples(st.floats(-1e9, 1e9), st.integers(0, 2**41), st.floats(1e-300, 1e12)), max_size=60
    )
)
def test_clocks_that_jump_give_times_that_can_be_answered_and_take_no_memory(steps):
    rate, bucket = SharedRate(), SharedBucket()
    for value, now_ms, limit in steps:
        rate.record(value, now_ms)
        assert 0 <= rate.throttle_ms(limit, now_ms) < 2**31
        bucket.record(abs(value), limit, now_ms)
        assert 0 <= bucket.throttle_ms(limit, now_ms) <= LONGEST_DEBT_MS
        assert len(rate._untold) <= 12
        if rate.is_due(limit, now_ms):
            rate.learn(rate.tell(now_ms))


@PATIENT
@hypothesis.given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 30_000), st.integers(0, 3_000)),
        min_size=1,
        max_size=80,
    ),
    st.integers(1, 5_000),
)
def test_a_producer_that_waits_as_told_by_any_of_three_has_no_more_than_its_quota(steps, limit):
    """As one process grants it, and a second's quota that each of the others may not have told."""
    store, rates = Store(), [SharedRate() for _ in range(3)]
    now_ms, sent, largest = NOW_MS, 0, 0
    for which, size, pause_ms in steps:
        rate = rates[which]
        rate.record(size, now_ms)
        store.take(rate, now_ms, limit)
        sent, largest = sent + size, max(largest, size)
        elapsed_s = (now_ms - NOW_MS) / 1000
        assert sent <= limit * (2 * elapsed_s + 11 + 2) + largest
        now_ms += rate.throttle_ms(limit, now_ms) + pause_ms


# Buckets


@pytest.mark.parametrize("taken", [1, 50, 55, 56, 100, 1000])
def test_a_bucket_is_kafkas_bucket(taken):
    shared, alone = SharedBucket(), TokenBucket()
    for bucket in (shared, alone):
        bucket.record(taken, 5, NOW_MS)
    for later_ms in (0, 1, 999, 8_999, 9_000, 10**6):
        told = shared.throttle_ms(5, NOW_MS + later_ms), alone.throttle_ms(5, NOW_MS + later_ms)
        assert told[0] == told[1], later_ms


def test_a_bucket_that_others_have_emptied_is_empty_here():
    mine = SharedBucket()
    mine.learn(full_again_at(0, debt_ms(100, 5), NOW_MS))
    assert mine.throttle_ms(5, NOW_MS) == 9_000
    assert not mine.is_idle(NOW_MS + 19_999)
    assert mine.is_idle(NOW_MS + 20_000)


def test_a_debt_that_could_not_be_told_still_counts_here():
    mine = SharedBucket()
    mine.record(100, 5, NOW_MS)
    mine.learn(0)
    assert mine.throttle_ms(5, NOW_MS) == 9_000


def test_a_debt_is_a_day_at_most_and_one_of_a_wrong_clock_is_none():
    assert full_again_at(0, debt_ms(1e9, 1e-300), NOW_MS) == NOW_MS + LONGEST_DEBT_MS
    owing = SharedBucket()
    for _ in range(3):
        owing.record(1e9, 1e-9, NOW_MS)
    assert owing.full_at_ms == NOW_MS + BURST_MS + LONGEST_DEBT_MS
    assert owing.throttle_ms(1, NOW_MS - 1) == 0
    assert full_again_at(NOW_MS + 10**12, 7, NOW_MS) == NOW_MS + 7


def test_a_rate_is_made_of_ten_whole_windows_the_present_one_and_two_ahead():
    assert sorted(recent(dict.fromkeys(range(100), 1.0), 50)) == list(range(40, 53))
