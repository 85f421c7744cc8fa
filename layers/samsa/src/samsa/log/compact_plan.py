"""When a log is compacted, and how far: pure.

Kafka's rules, on extents in the place of its segments. The newest end of a log stays as it is, as
Kafka's active segment does: what was stored within `active_ms`, and what is younger than
`min.compaction.lag.ms`. Of what lies below that, the part that was not cleaned before must be more
than `min.cleanable.dirty.ratio`, or have waited for `max.compaction.lag.ms`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from samsa.ports import Extent, has_passed

from .segments import LONGEST

NEVER_MS = 2**63 - 1
GROUP_BYTES = 32 * 1024 * 1024
GROUP_EXTENTS = 64
"""A swap is one transaction, and DynamoDB's have a hundred items."""
NOTED_BYTES = 2 * 1024 * 1024 * 1024
"""What one round reads for its keys: minutes, even where a function has a third of a core."""


class Compaction(NamedTuple):
    """What a topic's configs say."""

    dirty_ratio: float = 0.5
    tombstones_ms: int = 24 * 3600 * 1000
    min_lag_ms: int = 0
    max_lag_ms: int = NEVER_MS
    active_ms: int = 60_000
    span_ms: int = NEVER_MS
    """How far apart in time what is rewritten together may be: retention takes it together too."""


@dataclass(slots=True)
class Survey:
    """Of a log's extents, seen in order from its start."""

    cleaned: int
    now_ms: int
    rules: Compaction
    end: int = 0
    """Where the newest end begins, which is left alone."""
    reach: int = 0
    """Up to where one round notes the keys of what is not clean."""
    clean_bytes: int = 0
    dirty_bytes: int = 0
    oldest: Extent | None = None
    """The first that is not clean."""

    def add(self, extent: Extent) -> bool:
        """False: here begins the newest end."""
        if extent.end > self.cleaned:
            if _is_young(extent, self.now_ms, self.rules):
                return False
            self.oldest = self.oldest or extent
        if self.dirty_bytes < NOTED_BYTES:
            self.reach = extent.end
        # One that was merged since may be clean in part.
        unclean = min(max(extent.end - self.cleaned, 0), extent.offsets)
        dirty = extent.size * unclean // extent.offsets
        self.dirty_bytes += dirty
        self.clean_bytes += extent.size - dirty
        self.end = extent.end
        return True

    @property
    def start(self) -> int:
        """Of what was not cleaned before."""
        return self.end if self.oldest is None else max(self.cleaned, self.oldest.base)

    def is_due(self, waiting_since: int) -> bool:
        """`waiting_since` is the time of the first record that is not clean."""
        if self.oldest is None:
            return False
        ratio = self.dirty_bytes / max(1, self.clean_bytes + self.dirty_bytes)
        overdue = waiting_since < self.now_ms - self.rules.max_lag_ms
        return ratio > self.rules.dirty_ratio or overdue


def _is_young(extent: Extent, now_ms: int, rules: Compaction) -> bool:
    if not has_passed(now_ms, extent.stored_at, rules.active_ms):
        return True
    return rules.min_lag_ms > 0 and _stamp(extent) > now_ms - rules.min_lag_ms


def _stamp(extent: Extent) -> int:
    return extent.max_timestamp if extent.max_timestamp >= 0 else extent.stored_at


def groups(extents: Iterable[Extent], span_ms: int = NEVER_MS) -> Iterator[Sequence[Extent]]:
    """Neighbours that are rewritten together: a segment of their own size, or many small ones."""
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
