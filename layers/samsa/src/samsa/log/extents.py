"""Makes the extent of stored batches, and finds the bytes for an offset or a time in an extent."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from samsa.ports import Buffer, Extent, FileRange, Objects, Piece
from samsa.ports.joining import mark_every
from samsa.records.batch import BatchHeader, shift_offsets


class Range(NamedTuple):
    """Bytes of one object, or of the ledger, that hold whole batches."""

    key: str
    start: int
    length: int
    end_offset: int
    """The offset after the last batch in it."""
    shift: int = 0
    """What readers add to the offsets in its batches."""
    data: bytes = b""
    """The bytes, if they are in the ledger."""

    def part(self, start: int, length: int, end_offset: int) -> "Range":
        data = self.data[start : start + length]
        return Range(self.key, self.start + start, length, end_offset, self.shift, data)


def whole(extent: Extent) -> Range:
    return Range(extent.key, extent.start, extent.size, extent.end, extent.shift, extent.data)


async def read(objects: Objects, wanted: Range) -> Buffer:
    """The bytes, with the right offsets. Raises Missing."""
    data: Buffer = wanted.data
    if not data:
        data = await objects.get(wanted.key, wanted.start, wanted.length)
    return shift_offsets(data, wanted.shift) if wanted.shift else data


async def piece(objects: Objects, wanted: Range) -> Piece:
    """The same, ready to be sent: an open file if there is one and no offset is shifted."""
    if wanted.data:
        return shift_offsets(wanted.data, wanted.shift) if wanted.shift else wanted.data
    found = await objects.piece(wanted.key, wanted.start, wanted.length)
    return _shifted(found, wanted.shift) if wanted.shift else found


def _shifted(found: Any, shift: int) -> Any:
    if isinstance(found, FileRange):
        data = found.read()
        found.close()
        return shift_offsets(data, shift)
    if isinstance(found, bytes | bytearray | memoryview):
        return shift_offsets(found, shift)
    return found.shifted(
        shift
    )  # the range of an object: its offsets are shifted where its bytes arrive


def describe(key: str, base: int, placed: list[tuple[int, BatchHeader]], stored_at: int) -> Extent:
    """The extent of an object, made from its batches with their positions."""
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


def run_from(extents: Iterable[Extent], offset: int, end: int) -> list[Extent]:
    """The extents without a gap from the one that holds `offset` up to the one that holds
    `end − 1`. The input may be in any order, with duplicates."""
    run: list[Extent] = []
    for extent in sorted(extents, key=_base):
        if extent.base > offset or extent.base >= end:
            break
        if extent.end > offset:
            run.append(extent)
            offset = extent.end
    return run


def _base(extent: Extent) -> int:
    return extent.base


def join(ranges: list[Range], more: Range) -> None:
    """Add a range; if it continues the last one in the same object, extend that one."""
    if ranges and more.key:
        key, start, length, _, shift, _ = ranges[-1]
        if key == more.key and start + length == more.start and shift == more.shift:
            ranges[-1] = Range(key, start, length + more.length, more.end_offset, shift)
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
    """Whether the extent or a marked batch begins at `offset`, or the extent begins after it."""
    delta = offset - extent.base
    at = bisect_left(extent.marks, (delta, 0))
    return delta <= 0 or (at < len(extent.marks) and extent.marks[at][0] == delta)


def sections(extent: Extent, timestamp: int) -> Iterator[Range]:
    """The sections between marks, from the first that may hold a record at or after a time."""
    bounds = _bounds(extent)
    first = bisect_left(extent.times, timestamp)
    for number in range(first, len(bounds) - 1):
        yield _section(extent, bounds, number, number + 1)


def _bounds(extent: Extent) -> list[tuple[int, int]]:
    return [(0, 0), *extent.marks, (extent.offsets, extent.size)]


def _section(extent: Extent, bounds: Sequence[tuple[int, int]], first: int, last: int) -> Range:
    start, (offset, end) = bounds[first][1], bounds[last]
    return whole(extent).part(start, end - start, extent.base + offset)
