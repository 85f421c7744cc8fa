"""Joins neighbouring extents to one, with a sparse index from offset and time to position.

No object is read: the extents themselves say where each begins and how new its records are.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from samsa.ports import Extent

MARK_EVERY = 32 * 1024
"""At most one batch in this many bytes is marked: an extent stays small in the ledger."""
MOST_MARKS = 512
"""A large extent has marks further apart: they take some kilobytes, whatever its size."""


def mark_every(size: int) -> int:
    return max(MARK_EVERY, size // MOST_MARKS)


class Boundary(NamedTuple):
    offset: int
    position: int
    newest_before: int


def join_extents(run: Sequence[Extent], key: str, start: int = 0) -> Extent:
    """One extent for a run of neighbours, whose bytes follow one another from `start` on.

    Bytes that stay in their object keep their shift. Copied bytes carry their final offsets.
    """
    base, size = run[0].base, sum(extent.size for extent in run)
    every, marked = mark_every(size), 0
    marks: list[tuple[int, int]] = []
    times: list[int] = []
    for boundary in _boundaries(run):
        if boundary.position - marked >= every:
            marks.append((boundary.offset - base, boundary.position))
            times.append(boundary.newest_before)
            marked = boundary.position
    counted = all(extent.records >= 0 for extent in run)
    return Extent(
        base,
        run[-1].end - base,
        size,
        max(extent.max_timestamp for extent in run),
        max(extent.stored_at for extent in run),
        key,
        tuple(marks),
        sum(extent.records for extent in run) if counted else -1,
        start,
        tuple(times),
        run[0].shift if key == run[0].key else 0,
    )


def _boundaries(run: Sequence[Extent]) -> Iterator[Boundary]:
    position, newest = 0, -1
    for extent in run:
        yield Boundary(extent.base, position, newest)
        # An extent without `times` counts as its newest record from its start on: a look-up by
        # time then begins a little too early, and never too late.
        times = extent.times or (extent.max_timestamp,) * len(extent.marks)
        for (offset, at), before in zip(extent.marks, times, strict=True):
            yield Boundary(extent.base + offset, position + at, max(newest, before))
        position += extent.size
        newest = max(newest, extent.max_timestamp)


def adjoin(extent: Extent, following: Extent) -> bool:
    """Whether they lie in one object, one directly after the other, with the same shift."""
    return (
        extent.key == following.key != ""
        and extent.start + extent.size == following.start
        and extent.shift == following.shift
    )
