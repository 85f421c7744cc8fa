"""Offsets that are shifted while the bytes stream by: the same as if all of them were there."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property.records.strategies import BATCHES, examples

from samsa.records import CorruptBatch, Record, build
from samsa.records.batch import shift_offsets
from samsa_websocket.shim.offset_shift import OffsetShift

ONE = build([Record(0, 0, b"k", b"v")])


def streamed(data: bytes, by: int, cuts: list[int]) -> bytes:
    """Fed in the pieces between the cuts, some of which may be empty."""
    shift = OffsetShift(by, len(data))
    ends = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return b"".join(shift.feed(data[a:b]) for a, b in pairwise(ends))


@examples(500)
@given(
    st.lists(BATCHES, min_size=1, max_size=4),
    st.integers(-(2**62), 2**62),
    st.lists(st.integers(0, 1_000), max_size=40),
)
def test_in_whatever_pieces_they_come_batches_are_shifted_as_in_one(batches, by, cuts):
    data = b"".join(batches)
    assert streamed(data, by, cuts) == shift_offsets(data, by)


def test_byte_by_byte_too():
    data = ONE * 3
    assert streamed(data, 7, list(range(len(data)))) == shift_offsets(data, 7)


@pytest.mark.parametrize(
    "data", [ONE[:-1], ONE + ONE[:5], ONE[:7], bytes(61), b"\xff" * 61], ids=len
)
def test_what_is_not_made_of_whole_batches_is_an_error(data):
    with pytest.raises(CorruptBatch):
        streamed(data, 7, [])
