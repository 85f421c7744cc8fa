"""From stored bytes to their index entry, and from an index entry to the bytes that are wanted."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from samsa.joining import mark_every
from samsa.ports import Buffer, Extent, Partition
from samsa.records.batch import BatchHeader, headers

from .stores import slot_key


class Range(NamedTuple):
    """Bytes of one object that hold whole batches."""

    key: str
    start: int
    length: int
    end_offset: int
    """The offset after the last batch in it."""


def describe(key: str, base: int, placed: list[tuple[int, BatchHeader]], stored_at: int) -> Extent:
    """The extent of a slot from its batches, each with its position."""
    position, header = placed[-1]
    size, offsets = position + header.size, header.next_offset - base
    every = mark_every(size)
    marks: list[tuple[int, int]] = []
    times: list[int] = []
    marked, records, newest = 0, 0, -1
    for position, header in placed:
        if position - marked >= every:
            marks.append((header.base_offset - base, position))
            times.append(newest)
            marked = position
        records += header.count
        if header.count and header.max_timestamp > newest:
            newest = header.max_timestamp
    return Extent(
        base, offsets, size, newest, stored_at, key, tuple(marks), records, 0, tuple(times)
    )


def describe_object(partition: Partition, base: int, data: Buffer, stored_at: int) -> Extent:
    return describe(slot_key(partition, base), base, headers(data), stored_at)


def join(ranges: list[Range], more: Range) -> None:
    """Add a range; one that continues the last in the same object makes it longer."""
    if ranges:
        key, start, length, _ = ranges[-1]
        if key == more.key and start + length == more.start:
            ranges[-1] = Range(key, start, length + more.length, more.end_offset)
            return
    ranges.append(more)


def cut(extent: Extent, offset: int, max_bytes: int) -> Range:
    """From the marked batch at or before `offset`, as much as fits; at least to the next mark."""
    bounds = _bounds(extent)
    first = bisect_right(bounds, offset - extent.base, hi=len(bounds) - 1, key=lambda b: b[0]) - 1
    first = max(first, 0)
    start = bounds[first][1]
    last = bisect_right(bounds, start + max_bytes, key=lambda b: b[1]) - 1
    last = max(last, first + 1)
    return _section(extent, bounds, first, last)


def begins_at(extent: Extent, offset: int) -> bool:
    """Whether a batch that is known by its place begins there, or the extent does after it."""
    delta = offset - extent.base
    at = bisect_left(extent.marks, (delta, 0))
    return delta <= 0 or (at < len(extent.marks) and extent.marks[at][0] == delta)


def sections(extent: Extent, timestamp: int) -> Iterator[Range]:
    """Between two marks each, from the first on that may hold a record at or after a time."""
    bounds = _bounds(extent)
    first = bisect_left(extent.times, timestamp)
    for number in range(first, len(bounds) - 1):
        yield _section(extent, bounds, number, number + 1)


def _bounds(extent: Extent) -> list[tuple[int, int]]:
    return [(0, 0), *extent.marks, (extent.offsets, extent.size)]


def _section(extent: Extent, bounds: list[tuple[int, int]], first: int, last: int) -> Range:
    start, (offset, end) = bounds[first][1], bounds[last]
    return Range(extent.key, extent.start + start, end - start, extent.base + offset)
