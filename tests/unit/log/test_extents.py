from itertools import pairwise

import pytest

from samsa.log.extents import cut, describe
from samsa.ports import Extent
from samsa.ports.joining import MARK_EVERY
from samsa.records import Record, build, filler, headers

BASE = 100


def an_object(*sizes: int) -> bytes:
    """Batches of two records, each about this many bytes."""
    made = []
    for number, size in enumerate(sizes):
        offset = BASE + 2 * number
        values = (b"x" * size, b"")
        made.append(
            build(
                [Record(offset + n, offset + n, None, v) for n, v in enumerate(values)],
                base_offset=offset,
            )
        )
    return b"".join(made)


def extent_of(data: bytes) -> Extent:
    return describe("k", BASE, headers(data), stored_at=5)


def the_extent(*sizes: int) -> Extent:
    return extent_of(an_object(*sizes))


def test_an_extent_says_what_is_in_its_object():
    data = an_object(10, 20)
    assert extent_of(data) == Extent(
        base=BASE,
        offsets=4,
        size=len(data),
        max_timestamp=BASE + 3,
        stored_at=5,
        key="k",
        records=4,
    )


def test_filler_has_no_records_and_no_time():
    extent = extent_of(filler(BASE, 3, 77))
    assert (extent.offsets, extent.records, extent.max_timestamp) == (3, 0, -1)


def test_fillers_among_batches_do_not_count_as_records():
    data = an_object(10) + filler(BASE + 2, 3, 10_000)
    extent = extent_of(data)
    assert (extent.offsets, extent.records, extent.max_timestamp) == (5, 2, BASE + 1)


def test_a_small_object_has_no_marks():
    assert the_extent(*[100] * 50).marks == ()


def test_marks_are_starts_of_batches_and_lie_well_apart():
    sizes = [MARK_EVERY // 3] * 20
    extent = the_extent(*sizes)
    starts = [(h.base_offset - BASE, position) for position, h in headers(an_object(*sizes))]
    assert set(extent.marks) <= set(starts[1:])
    assert len(extent.marks) >= 4
    positions = [0, *(position for _, position in extent.marks)]
    assert all(b - a >= MARK_EVERY for a, b in pairwise(positions))


def test_every_large_batch_but_the_first_is_marked():
    assert [offset for offset, _ in the_extent(*[MARK_EVERY] * 4).marks] == [2, 4, 6]


@pytest.mark.parametrize("offset", range(BASE, BASE + 8))
def test_a_cut_begins_with_the_batch_that_holds_the_offset(offset):
    extent = the_extent(*[MARK_EVERY] * 4)
    data = an_object(*[MARK_EVERY] * 4)
    part = cut(extent, offset, 1)
    (_, header), *others = headers(data[part.start : part.start + part.length])
    assert header.base_offset <= offset < header.next_offset == part.end_offset
    assert not others


def test_a_cut_takes_as_many_marked_parts_as_fit():
    extent = the_extent(*[MARK_EVERY] * 4)
    two = extent.marks[1][1]
    assert cut(extent, BASE, two).length == two
    assert cut(extent, BASE, two - 1).length == extent.marks[0][1]
    assert cut(extent, BASE, extent.size).length == extent.size


def test_a_cut_without_marks_is_the_whole_object():
    extent = the_extent(10, 20, 30)
    part = cut(extent, BASE + 5, 1)
    assert (part.start, part.length, part.end_offset) == (0, extent.size, extent.end)


def test_a_cut_always_makes_progress():
    extent = the_extent(*[MARK_EVERY] * 4)
    for offset in range(BASE, extent.end):
        assert cut(extent, offset, 0).end_offset > offset
