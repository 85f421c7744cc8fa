"""When a log is compacted, and how far: pure.

The rules are Kafka's, with extents in place of segments. The newest end of a log stays as it is,
like Kafka's active segment: extents that were stored within `active_ms`, and those younger than
`min.compaction.lag.ms`, and everything from the first batch of the oldest open transaction on. A
round is due if, of the rest, the part that was not cleaned before is
more than `min.cleanable.dirty.ratio`, or has waited for `max.compaction.lag.ms`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from samsa.ports import Extent, has_passed

from .segments import LONGEST

NEVER_MS = 2**63 - 1
NO_END = 2**63 - 1
GROUP_BYTES = 32 * 1024 * 1024
GROUP_EXTENTS = 64
"""A swap is one transaction, and a transaction of DynamoDB has at most 100 items."""
NOTED_BYTES = 2 * 1024 * 1024 * 1024
"""Bytes that one round reads for keys: some minutes, even in a function with a third of a core."""


class Compaction(NamedTuple):
    """What a topic's configs say."""

    dirty_ratio: float = 0.5
    tombstones_ms: int = 24 * 3600 * 1000
    min_lag_ms: int = 0
    max_lag_ms: int = NEVER_MS
    active_ms: int = 60_000
    span_ms: int = NEVER_MS
    """Longest time between extents that are rewritten together: retention removes them together."""


@dataclass(slots=True)
class Survey:
    """Adds up a log's extents, in order from its start."""

    cleaned: int
    now_ms: int
    rules: Compaction
    stable_end: int = NO_END
    """Above it are transactions that are not decided yet."""
    end: int = 0
    """Where the newest end begins, which stays as it is."""
    reach: int = 0
    """Up to where one round notes keys."""
    clean_bytes: int = 0
    dirty_bytes: int = 0
    oldest: Extent | None = None
    """The first that is not clean."""

    def add(self, extent: Extent) -> bool:
        """False: the newest end begins here."""
        if extent.base >= self.stable_end:
            return False
        extent = _below(extent, self.stable_end)
        if extent.end > self.cleaned:
            if _is_young(extent, self.now_ms, self.rules):
                return False
            self.oldest = self.oldest or extent
        if self.dirty_bytes < NOTED_BYTES:
            self.reach = extent.end
        # An extent that was merged since may be clean in part.
        unclean = min(max(extent.end - self.cleaned, 0), extent.offsets)
        dirty = extent.size * unclean // extent.offsets
        self.dirty_bytes += dirty
        self.clean_bytes += extent.size - dirty
        self.end = extent.end
        return True

    @property
    def start(self) -> int:
        """Where the part begins that was not cleaned before."""
        return self.end if self.oldest is None else max(self.cleaned, self.oldest.base)

    def is_due(self, waiting_since: int) -> bool:
        """`waiting_since` is the time of the first record that is not clean."""
        if self.oldest is None:
            return False
        ratio = self.dirty_bytes / max(1, self.clean_bytes + self.dirty_bytes)
        overdue = waiting_since < self.now_ms - self.rules.max_lag_ms
        return ratio > self.rules.dirty_ratio or overdue


def _below(extent: Extent, end: int) -> Extent:
    """The extent up to an offset, as large as it is on average."""
    if extent.end <= end:
        return extent
    offsets = end - extent.base
    return extent._replace(offsets=offsets, size=extent.size * offsets // extent.offsets)


def _is_young(extent: Extent, now_ms: int, rules: Compaction) -> bool:
    if not has_passed(now_ms, extent.stored_at, rules.active_ms):
        return True
    return rules.min_lag_ms > 0 and _stamp(extent) > now_ms - rules.min_lag_ms


def _stamp(extent: Extent) -> int:
    return extent.max_timestamp if extent.max_timestamp >= 0 else extent.stored_at


def groups(extents: Iterable[Extent], span_ms: int = NEVER_MS) -> Iterator[Sequence[Extent]]:
    """Neighbours that are rewritten together: one large extent, or several small ones."""
    group: list[Extent] = []
    size = 0
    for extent in extents:
        full = size + extent.size > GROUP_BYTES or len(group) == GROUP_EXTENTS
        apart = bool(group) and abs(_stamp(extent) - _stamp(group[0])) > span_ms
        if group and (full or apart or extent.end - group[0].base >= LONGEST):
            yield group
            group, size = [], 0
        group.append(extent)
        size += extent.size
    if group:
        yield group
