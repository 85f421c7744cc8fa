"""One partition of a simulated ledger: its head, its index and its producers."""

from bisect import bisect_left, insort
from collections import defaultdict
from dataclasses import dataclass, field

from samsa.ports import Aborted, Bound, Extent, Head, Partition, PendingDeletion, UnknownPartition
from samsa.ports.heads import HeadProducer, HeadState, entry_weight

from .truth import Truth

PRODUCER_BYTES = 60


@dataclass
class Item:
    next_offset: int = 0
    log_start: int = 0
    watchers: dict[str, int] = field(default_factory=dict)
    tail: dict[str, Extent] = field(default_factory=dict)
    """Of DynamoDB: entries by id, at the bases that they got."""
    in_head: dict[int, HeadProducer] = field(default_factory=dict)
    """Of DynamoDB: producers that were not evicted."""
    producers: dict[int, Bound] = field(default_factory=dict)
    """All on SQLite; on DynamoDB those that were evicted at least once."""
    open: dict[int, int] = field(default_factory=dict)
    """Producer id → the first offset of the transaction that it has open."""
    aborted_to: int = 0
    aborted_from: int = 0
    in_tail: dict[int, Aborted] = field(default_factory=dict)
    """Of DynamoDB: aborted transactions whose markers are in the tail, by marker."""
    aborted: dict[int, Aborted] = field(default_factory=dict)
    """Those that were stored beside the index, by marker."""
    evictions: int = 0
    sweeps: int = 0
    lasts: list[int] = field(default_factory=list)
    extents: dict[int, Extent] = field(default_factory=dict)
    settled_to: int = 0
    settled: set[int] = field(default_factory=set)
    """Of DynamoDB: the last offsets of extents that a swap put there."""
    deletions: dict[str, PendingDeletion] = field(default_factory=dict)
    cursors: dict[str, int] = field(default_factory=dict)

    def head(self) -> Head:
        return Head(
            self.next_offset,
            self.log_start,
            dict(self.watchers),
            self.settled_to,
            tuple(sorted(self.tail.values())),
            dict(self.open),
            self.aborted_to,
            tuple(sorted(self.in_tail.values())),
            self.aborted_from,
        )

    def state(self) -> HeadState:
        weight = sum(map(entry_weight, self.tail.values())) + PRODUCER_BYTES * len(self.in_head)
        return HeadState(self.head(), dict(self.in_head), self.evictions, self.sweeps, weight)

    def abort(self, aborted: Aborted, in_tail: bool) -> None:
        (self.in_tail if in_tail else self.aborted)[aborted.marker] = aborted
        self.aborted_to = aborted.marker + 1

    def all_aborted(self) -> set[Aborted]:
        """What readers can find."""
        return {*self.in_tail.values(), *self.aborted.values()}

    def add(self, extent: Extent) -> bool:
        last = extent.end - 1
        if last in self.extents:
            return False
        insort(self.lasts, last)
        self.extents[last] = extent
        return True

    def remove(self, last: int) -> None:
        self.lasts.remove(last)
        del self.extents[last]
        self.settled.discard(last)

    def counts(self, extent: Extent, settled_to: int) -> bool:
        return extent.base >= settled_to or extent.end - 1 in self.settled

    def valid(self, settled_to: int | None = None) -> list[Extent]:
        """What readers find in the index, in order; an old `settled_to` may let them find more."""
        known = self.settled_to if settled_to is None else settled_to
        return [e for e in map(self.extents.__getitem__, self.lasts) if self.counts(e, known)]

    def readable(self) -> list[Extent]:
        """All that readers find: the index and the tail."""
        return [*self.valid(), *self.tail.values()]

    def holder(self, extent: Extent) -> Extent | None:
        """One that holds any of the same offsets."""
        at = bisect_left(self.lasts, extent.base)
        found = self.extents[self.lasts[at]] if at < len(self.lasts) else None
        return found if found is not None and found.base < extent.end else None


class Items:
    """`far`: DynamoDB, where a head has a tail and a swap takes several steps; else SQLite."""

    def __init__(self, truth: Truth, far: bool) -> None:
        self.calls: dict[str, int] = defaultdict(int)
        self.remote = far
        self._truth = truth
        self._items: dict[Partition, Item] = {}

    def make(self, partition: Partition) -> None:
        self._items[partition] = Item()

    def item(self, partition: Partition) -> Item:
        try:
            return self._items[partition]
        except KeyError:
            raise UnknownPartition(str(partition)) from None
