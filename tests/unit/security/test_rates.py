"""Rates and throttle times, number by number as Apache Kafka's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.security.given import PATIENT
from unit.security.kafka import answers

from samsa.security.rates import Rate, TokenBucket


@pytest.mark.parametrize("steps", answers("rates"), ids=range(len(answers("rates"))))
def test_a_rate_is_kafkas_rate(steps):
    rate = Rate()
    for value, recorded_ms, now_ms, measured, window_ms, throttle_ms in steps:
        rate.record(value, recorded_ms)
        assert rate.measure(now_ms) == pytest.approx(measured, rel=1e-12)
        assert rate.elapsed_ms(now_ms) == window_ms
        assert rate.throttle_ms(1000, now_ms) == throttle_ms


@pytest.mark.parametrize("steps", answers("buckets"), ids=range(len(answers("buckets"))))
def test_a_bucket_is_kafkas_bucket(steps):
    bucket = TokenBucket()
    for value, now_ms, throttle_ms in steps:
        bucket.record(value, 5, now_ms)
        assert bucket.throttle_ms(5, now_ms) == throttle_ms


def test_a_client_that_waits_as_told_is_within_its_quota():
    rate, now_ms = Rate(), 1_000_000
    rate.record(50_000, now_ms)
    throttle_ms = rate.throttle_ms(1000, now_ms)
    assert throttle_ms == 40_000
    assert rate.throttle_ms(1000, now_ms + throttle_ms) == 0


def test_an_idle_rate_is_nothing():
    rate = Rate()
    assert rate.measure(5) == 0
    rate.record(7, 10)
    assert rate.measure(10 + 11_000) == 0


@PATIENT
@given(
    st.lists(
        st.tuples(st.floats(-1e9, 1e9), st.integers(0, 2**41), st.floats(1e-9, 1e12)), max_size=60
    )
)
def test_clocks_that_jump_give_times_that_can_be_answered(steps):
    rate, bucket = Rate(), TokenBucket()
    for value, now_ms, limit in steps:
        rate.record(value, now_ms)
        bucket.record(value, limit, now_ms)
        for throttle_ms in (rate.throttle_ms(limit, now_ms), bucket.throttle_ms(limit, now_ms)):
            assert 0 <= throttle_ms < 2**31
    assert len(rate._samples) <= 12


def test_a_clock_that_goes_back_throttles_no_longer_than_one_that_stands():
    back, still = Rate(), Rate()
    for rate, later_ms in ((back, 50), (still, 100_000)):
        rate.record(20_000, 100_000)
        rate.record(20_000, later_ms)
    assert back.throttle_ms(1000, 10) == still.throttle_ms(1000, 100_000)
