"""Subscriptions by regular expression."""

import time

import pytest

from samsa.groups import BadPattern, matches

NAMES = ["orders", "orders-eu", "my-orders", "payments", "Orders"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("orders", ("orders",)),
        ("orders.*", ("orders", "orders-eu")),
        ("(?i)orders", ("Orders", "orders")),
        (r"\w+s", ("Orders", "orders", "payments")),
        ("", ()),
        ("a|p.*", ("payments",)),
    ],
)
def test_a_pattern_must_match_the_whole_name(pattern, found):
    assert matches(pattern, NAMES) == found


@pytest.mark.parametrize("pattern", ["(", "(?=orders)", r"(a)\1", "a{2000}", "x" * 5_000])
def test_what_re2_does_not_know_is_refused(pattern):
    with pytest.raises(BadPattern):
        matches(pattern, NAMES)


def test_no_pattern_takes_long_to_find_that_it_does_not_match():
    start = time.perf_counter()
    assert matches("(a+)+(a|a)*(a*)*b", ["a" * 249] * 100) == ()
    assert time.perf_counter() - start < 2
