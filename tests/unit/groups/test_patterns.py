"""Subscriptions by regular expression."""

import time

import pytest

from samsa.groups import BadPattern, matches
from samsa.groups.patterns import compile_pattern

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


@pytest.mark.parametrize("pattern", ["(.?){1000}x", "(.{0,31}){0,31}x", ".{1000}|.*"])
def test_a_pattern_whose_program_is_large_is_refused(pattern):
    with pytest.raises(BadPattern):
        matches(pattern, NAMES)


@pytest.mark.parametrize("pattern", [".*" * 50, ".*" * 2_000, "(.*)" * 1_000, "(a|b)*" * 300])
def test_what_is_long_and_says_little_has_a_small_program(pattern):
    assert compile_pattern(pattern).programsize < 100


def test_parentheses_cost_nothing():
    assert compile_pattern("(.*)" * 50).programsize == compile_pattern(".*").programsize


@pytest.mark.parametrize(
    ("pattern", "found"), [("é?orders", ("orders",)), ("[^é]+s", ("my-orders", "orders"))]
)
def test_letters_that_no_name_has_mean_what_they_mean(pattern, found):
    assert matches(pattern, ["orders", "my-orders"]) == found
