"""Neighbouring extents as one: only where they are read alike."""

import pytest

from samsa.ports import Extent
from samsa.ports.joining import adjoin, join_extents

FIRST = Extent(10, 5, 100, 7, 8, "pack/a", (), 5, 40, shift=3)
NEXT = Extent(15, 2, 50, 9, 9, "pack/a", (), 2, 140, shift=3)


def test_what_follows_in_one_object_with_the_same_shift_adjoins():
    assert adjoin(FIRST, NEXT)


@pytest.mark.parametrize(
    "other",
    [{"shift": 4}, {"key": "pack/b"}, {"start": 141}],
    ids=lambda other: next(iter(other)),
)
def test_what_is_read_in_another_way_does_not_adjoin(other: dict[str, object]):
    assert not adjoin(FIRST, NEXT._replace(**other))  # type: ignore[arg-type]


def test_what_is_kept_in_the_ledger_adjoins_nothing():
    inline = Extent(0, 1, 0, 7, 8, "", data=b"")
    assert not adjoin(inline, inline._replace(base=1))


def test_what_is_joined_in_its_place_keeps_its_shift():
    joined = join_extents([FIRST, NEXT], FIRST.key, FIRST.start)
    assert (joined.base, joined.offsets, joined.start, joined.shift) == (10, 7, 40, 3)


def test_a_copy_carries_its_own_offsets():
    assert join_extents([FIRST, NEXT], "log/segment").shift == 0
