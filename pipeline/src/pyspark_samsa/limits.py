"""Divides the limit of a micro-batch among partitions: shares that add up to the limit."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from .splits import Stretch, runs

T = TypeVar("T", bound=Hashable)
STEP = 64 * 1024
"""A limit of bytes is kept to this precision, if the batches are no larger."""


def shares(available: Mapping[T, int], limit: int) -> dict[T, int]:
    """What each partition may take so that all together take `limit`: those with little data take
    all of it, the others get equal shares. A lagging partition does not hold up small ones."""
    given: dict[T, int] = {}
    waiting = sorted(available, key=lambda name: available[name])
    for number, name in enumerate(waiting):
        fair = -(-limit // (len(waiting) - number))
        given[name] = min(available[name], fair)
        limit -= given[name]
    return given


def steps(stretches: Sequence[Stretch]) -> list[tuple[int, int]]:
    """Where a partition may be cut: an offset, and the bytes up to there."""
    found, size = [], 0
    for stretch in stretches:
        for run in runs(stretch, STEP):
            size += run.stored.length
            found.append((run.end, size))
    return found


def within(cuts: Sequence[tuple[int, int]], share: int, start: int) -> int:
    """The last offset up to which there are no more bytes than the share."""
    return max((offset for offset, size in cuts if size <= share), default=start)
