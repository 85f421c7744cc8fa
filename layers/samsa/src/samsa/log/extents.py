"""From stored bytes to their index entry, and from an index entry to the bytes that are wanted."""

from bisect import bisect_right
from typing import NamedTuple

from samsa.ports import Buffer, Extent, Partition
from samsa.records.batch import BatchHeader, headers

from .stores import slot_key

MARK_EVERY = 32 * 1024
"""At most one batch in this many bytes is marked: an extent stays small in the ledger."""


class Range(NamedTuple):
    """Bytes of one object that hold whole batches."""

    key: str
    start: int
    length: int
    end_offset: int
    """The offset after the last batch in it."""


def describe(key: str, base: int, placed: list[tuple[int, BatchHeader]], stored_at: int) -> Extent:
    """The extent of a slot from its batches, each with its position."""
    marks: list[tuple[int, int]] = []
    marked, records, newest = 0, 0, -1
    for position, header in placed:
        if position - marked >= MARK_EVERY:
            marks.append((header.base_offset - base, position))
            marked = position
        records += header.count
        if header.count and header.max_timestamp > newest:
            newest = header.max_timestamp
    return Extent(
        base,
        header.base_offset + header.offsets - base,
        position + header.size,
        newest,
        stored_at,
        key,
        tuple(marks),
        records,
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
    bounds = [(0, 0), *extent.marks, (extent.offsets, extent.size)]
    first = bisect_right(bounds, offset - extent.base, hi=len(bounds) - 1, key=lambda b: b[0]) - 1
    first = max(first, 0)
    start = bounds[first][1]
    last = bisect_right(bounds, start + max_bytes, key=lambda b: b[1]) - 1
    last = max(last, first + 1)
    length = bounds[last][1] - start
    return Range(extent.key, extent.start + start, length, extent.base + bounds[last][0])
