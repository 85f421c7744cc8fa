"""Chooses the extents to merge: pure, from the index alone.

There are two ways. Extents whose bytes follow one another in one object become one extent, without
a copy. Other neighbours are copied into a segment. To limit how often a byte is copied, a run at
the end of the log, which may still grow, is taken only if its largest member is at most a quarter
of it. Each copy then moves a byte to an extent that is four times as large, at most eight times in
all. A run that ends at a large extent, or has the size of a segment, will not grow: it is taken as
it is.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
from typing import NamedTuple

from samsa.ports import Extent
from samsa.ports.joining import adjoin
from samsa.ports.windows import WINDOWS

from .segments import LONGEST

AT_ONCE = 256
"""Extents of one object that are joined in one step. No other write can happen during it."""
GROWTH = 4


class Sizes(NamedTuple):
    segment: int
    """Largest segment that a merge makes, in bytes."""
    span_ms: int = 2**62
    """Longest time between the storing of its members: a segment stays as long as its newest."""
    most: int = 20_000
    """Members of one run."""

    def is_large(self, extent: Extent) -> bool:
        return 2 * extent.size >= self.segment


class Span(NamedTuple):
    """A run of a list: [first, last)."""

    first: int
    last: int


def adjoining(extents: Sequence[Extent], sizes: Sizes) -> Iterator[Span]:
    """Runs whose bytes follow one another: to be joined without a copy."""
    first = 0
    for number in range(1, len(extents) + 1):
        if number < len(extents) and _joins(extents, first, number, sizes):
            continue
        yield from _worth(extents, Span(first, number), number < len(extents))
        first = number


def _joins(extents: Sequence[Extent], first: int, number: int, sizes: Sizes) -> bool:
    begin, extent = extents[first], extents[number]
    return (
        adjoin(extents[number - 1], extent)
        and extent.start + extent.size - begin.start <= sizes.segment
        and extent.end - begin.base < LONGEST
        and extent.stored_at - begin.stored_at <= sizes.span_ms
        and number - first < AT_ONCE
    )


def apart(extents: Sequence[Extent], sizes: Sizes) -> Iterator[Span]:
    """Runs of small extents: to be copied into a segment each."""
    numbers = range(len(extents))
    last_small = len(extents) and not sizes.is_large(extents[-1])
    for large, members in groupby(numbers, key=lambda number: sizes.is_large(extents[number])):
        if not large:
            small = list(members)
            grows = bool(last_small) and small[-1] == len(extents) - 1
            yield from _segments(extents, Span(small[0], small[-1] + 1), grows, sizes)


def _segments(
    extents: Sequence[Extent], span: Span, grows: bool, sizes: Sizes, least: int = 2
) -> Iterator[Span]:
    first, size = span.first, 0
    for number in range(*span):
        extent = extents[number]
        size += extent.size
        begin = extents[first]
        full = size > sizes.segment or number - first == sizes.most
        wide = extent.stored_at - begin.stored_at > sizes.span_ms
        if full or wide or extent.end - begin.base >= LONGEST:
            yield from _worth(extents, Span(first, number), True, least)
            first, size = number, extent.size
    yield from _worth(extents, Span(first, span.last), not grows, least)


def _worth(extents: Sequence[Extent], span: Span, closed: bool, least: int = 2) -> Iterator[Span]:
    """A run that will not grow (`closed`): all of it, if it has at least `least` members. Another:
    its longest end whose largest member is at most a quarter of it."""
    if closed:
        if span.last - span.first >= least:
            yield span
        return
    total, largest, best = 0, 0, span.last
    for number in range(span.last - 1, span.first - 1, -1):
        total += extents[number].size
        largest = max(largest, extents[number].size)
        if GROWTH * largest <= total:
            best = number
    if best < span.last:
        yield Span(best, span.last)


def shared(extents: Sequence[Extent], sizes: Sizes, before_ms: int) -> Iterator[Span]:
    """Runs of extents that were stored before a time and are still in windows. They are copied,
    however small they are, so that no window is kept for the little that is left in it."""
    numbers = range(len(extents))

    def is_old(number: int) -> bool:
        return is_in_window(extents[number]) and extents[number].stored_at < before_ms

    for old, members in groupby(numbers, key=is_old):
        if old:
            run = list(members)
            yield from _segments(extents, Span(run[0], run[-1] + 1), False, sizes, least=1)


def is_in_window(extent: Extent) -> bool:
    return extent.key.startswith(WINDOWS)


def settled(extents: Sequence[Extent], sizes: Sizes) -> int:
    """The offset below which no merge has to look again: the end of the last large extent before
    the first that is in a window. 0: there is none."""
    kept = takewhile(lambda extent: not is_in_window(extent), extents)
    return max((extent.end for extent in kept if sizes.is_large(extent)), default=0)
