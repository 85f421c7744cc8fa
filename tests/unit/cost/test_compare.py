"""More costs more, and the break-even is where it says."""

from dataclasses import replace
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.cost.given import SHIPPED, instant

from samsa.ports.bounds import INLINE_BYTES
from samsa_broker.cost import BILLS, Load, break_evens, functions
from samsa_broker.cost.compare import HIGHEST, LOWEST, OURS

BY_NAME = {bill(Load(1), SHIPPED).name: bill for bill in BILLS}


@st.composite
def loads(draw):
    readers = draw(st.integers(0, 40))
    return Load(
        draw(st.floats(0.001, 50_000)),
        draw(st.integers(1, 50_000)),
        draw(st.integers(1, 200)),
        readers,
        draw(st.integers(1, max(1, readers))),
        draw(st.integers(1, 300)),
        draw(st.sampled_from([1, 16_384, 1_000_000])),
        draw(st.sampled_from([0.0, 5.0, 500.0])),
        draw(st.sampled_from([0.0, 1.0, 168.0, 8_760.0])),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.sampled_from([0.0, 250.0])),
        draw(st.sampled_from([0.0, 100.0])),
        draw(st.booleans()),
    )


@given(loads())
@settings(max_examples=200)
def test_every_line_of_every_bill_is_a_number_and_no_line_is_negative(load):
    for bill in BILLS:
        for line in bill(load, SHIPPED).lines:
            assert 0 <= line.dollars < inf, line


@given(loads(), st.floats(1, 100))
@settings(max_examples=200)
def test_more_messages_never_cost_less(load, times):
    """Of Samsa only if each is an object by itself, and nobody reads. Through functions a little
    less if they become too large for a message and go by S3; and what cannot be had has no price
    that means anything."""
    unread = replace(load, consumers=0, groups=1, size=max(load.size, INLINE_BYTES))
    for bill in BILLS:
        before = unread if bill in OURS else load
        after = bill(replace(before, messages_per_second=load.messages_per_second * times), SHIPPED)
        least = 0.75 if bill is functions else 1 - 1e-6
        if not (bill is functions and after.beyond):
            assert after.total >= bill(before, SHIPPED).total * least


@pytest.mark.parametrize("bill", OURS)
def test_what_is_just_too_large_for_a_head_costs_less_than_what_just_fits(bill):
    small, large = (Load(10, size, consumers=0, linger_ms=0) for size in (4_027, 4_028))
    assert bill(large, instant()).total < bill(small, instant()).total


@given(loads(), st.floats(1, 100))
@settings(max_examples=100)
def test_what_is_kept_for_longer_never_costs_less(load, times):
    longer = replace(load, retention_hours=load.retention_hours * times)
    for bill in BILLS:
        assert bill(longer, SHIPPED).total >= bill(load, SHIPPED).total * (1 - 1e-9)


@given(loads())
@settings(max_examples=100)
def test_who_waits_for_larger_batches_never_pays_more_puts(load):
    """Of what is an object in any case."""
    load = replace(load, size=max(load.size, INLINE_BYTES))
    patient = replace(load, linger_ms=load.linger_ms + 200)
    for bill in OURS:
        puts = [
            line.dollars
            for each in (patient, load)
            for line in bill(each, SHIPPED).lines
            if line.what == "S3 puts and lists"
        ]
        # A batch that has become too large for a message is put twice.
        assert puts[0] <= 2 * puts[1] * (1 + 1e-9)


def cheaper(ours: str, theirs: str, load: Load, rate: float) -> bool:
    there = replace(load, messages_per_second=rate)
    return BY_NAME[ours](there, SHIPPED).total < BY_NAME[theirs](there, SHIPPED).total


@pytest.mark.parametrize(
    "load",
    [Load(1), Load(1, linger_ms=500, batch_bytes=1_000_000), Load(1, 100, 1, 1, 1, 1)],
)
def test_at_a_break_even_the_cheaper_one_changes(load):
    found = break_evens(load, SHIPPED)
    assert len(found) == 4
    for ours, theirs, ranges in found:
        for edge in (edge for pair in ranges for edge in pair if 0 < edge < inf):
            assert LOWEST < edge < HIGHEST
            around = [cheaper(ours, theirs, load, edge * (1 + side)) for side in (-1e-6, 1e-6)]
            assert len(set(around)) == 2, (ours, theirs, edge)
        for low, high in ranges:
            inside = (max(low, LOWEST) * min(high, HIGHEST)) ** 0.5
            assert cheaper(ours, theirs, load, inside)
        assert cheaper(ours, theirs, load, LOWEST) == any(low == 0 for low, _ in ranges)
        assert cheaper(ours, theirs, load, HIGHEST) == any(high == inf for _, high in ranges)


def test_where_nothing_is_paid_per_call_samsa_is_always_cheaper():
    from samsa_broker.cost import Prices

    free = Prices({})
    free._values = {
        key: [(0.0, 0.0)] if key[0] in ("api_gateway", "lambda", "dynamodb", "s3") else tiers
        for key, tiers in SHIPPED._values.items()
    }
    ranges = {tuple(each.cheaper) for each in break_evens(Load(1), free) if "func" in each.ours}
    assert ranges == {((0.0, inf),)}
