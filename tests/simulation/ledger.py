"""The ledger of a simulation: DynamoDB or SQLite, in memory.

Plain methods are one atomic step. A generator pauses between its steps, where the process may stop
for ever. Every effect is shown to the truth, which knows what must hold after it.
"""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from samsa.aws.extents import neighbours, uncovered
from samsa.ports import (
    Bound,
    Confirmed,
    Extent,
    Grave,
    Head,
    Partition,
    UnknownPartition,
    grave_of,
)

from .truth import Truth


@dataclass
class Item:
    """One partition: its head, its index and its producers."""

    next_offset: int = 0
    log_start: int = 0
    inflight: dict[str, int] = field(default_factory=dict)
    watchers: dict[str, int] = field(default_factory=dict)
    lasts: list[int] = field(default_factory=list)
    extents: dict[int, Extent] = field(default_factory=dict)
    producers: dict[int, Bound] = field(default_factory=dict)
    settled_to: int = 0
    settled: set[int] = field(default_factory=set)
    """Of DynamoDB: the last offsets of extents that a swap put there."""
    graves: dict[str, Grave] = field(default_factory=dict)
    cursors: dict[str, int] = field(default_factory=dict)

    def head(self) -> Head:
        return Head(
            self.next_offset,
            self.log_start,
            dict(self.inflight),
            dict(self.watchers),
            self.settled_to,
        )

    def add(self, extent: Extent) -> None:
        last = extent.end - 1
        if last not in self.extents:
            insort(self.lasts, last)
            self.extents[last] = extent

    def remove(self, last: int) -> None:
        self.lasts.remove(last)
        del self.extents[last]
        self.settled.discard(last)

    def counts(self, extent: Extent, settled_to: int) -> bool:
        return extent.base >= settled_to or extent.end - 1 in self.settled

    def valid(self, settled_to: int | None = None) -> list[Extent]:
        """What readers find, in order; who knows an old `settled_to` may find more."""
        known = self.settled_to if settled_to is None else settled_to
        return [e for e in map(self.extents.__getitem__, self.lasts) if self.counts(e, known)]

    def holder(self, extent: Extent) -> Extent | None:
        """One that holds any of the same offsets."""
        at = bisect_left(self.lasts, extent.base)
        found = self.extents[self.lasts[at]] if at < len(self.lasts) else None
        return found if found is not None and found.base < extent.end else None


class SimLedger:
    """`two_steps`: closing a slot and indexing it are two writes, as on DynamoDB."""

    def __init__(self, truth: Truth, two_steps: bool) -> None:
        self.calls: dict[str, int] = defaultdict(int)
        self.two_steps = two_steps
        self._truth = truth
        self._items: dict[Partition, Item] = {}

    def make(self, partition: Partition) -> None:
        self._items[partition] = Item()

    def item(self, partition: Partition) -> Item:
        try:
            return self._items[partition]
        except KeyError:
            raise UnknownPartition(str(partition)) from None

    def reserve(self, partition: Partition, token: str, count: int) -> Head:
        item = self.item(partition)
        if token not in item.inflight:
            item.inflight[token] = item.next_offset
            item.next_offset += count
            self._truth.reserved(partition, item.inflight[token], count)
        return item.head()

    def confirm(
        self, partition: Partition, token: str, extent: Extent
    ) -> Generator[None, None, Confirmed]:
        item = self.item(partition)
        was_open = self._is_open(item, token, extent)
        if was_open:
            del item.inflight[token]
            if not self.two_steps:
                self._index(partition, item, extent)
            self._truth.closed(partition, item.head())
        head = item.head()
        if was_open and self.two_steps:
            yield
            self._index(partition, item, extent)
        return Confirmed(head, was_open)

    def take(self, partition: Partition, extent: Extent) -> None:
        """For the journal: reserved, written and confirmed before anyone can look."""
        item = self.item(partition)
        item.next_offset = extent.end
        self._truth.reserved(partition, extent.base, extent.offsets)
        self._index(partition, item, extent)
        self._truth.closed(partition, item.head())

    def _is_open(self, item: Item, token: str, extent: Extent) -> bool:
        return item.inflight.get(token) == extent.base

    def _index(self, partition: Partition, item: Item, extent: Extent) -> None:
        if self.two_steps or self._is_free(item, extent):
            item.add(extent)
            there = item.extents[extent.end - 1]
            if there.base == extent.base and item.counts(there, item.settled_to):
                self._truth.indexed(partition, there)

    def _is_free(self, item: Item, extent: Extent) -> bool:
        return item.holder(extent) is None

    def head(self, partition: Partition) -> Head:
        return self.item(partition).head()

    def index(self, partition: Partition, extent: Extent) -> None:
        self._index(partition, self.item(partition), extent)

    def extents(
        self, partition: Partition, offset: int, limit: int, settled_to: int | None = None
    ) -> list[Extent]:
        found = [e for e in self.item(partition).valid(settled_to) if e.end > offset][:limit]
        return uncovered(found)

    def extent_before(
        self, partition: Partition, offset: int, settled_to: int | None = None
    ) -> Extent | None:
        found = [e for e in self.item(partition).valid(settled_to) if e.end <= offset]
        return found[-1] if found else None

    def _kept(self, partition: Partition) -> list[Extent]:
        item = self.item(partition)
        return [e for e in item.valid() if e.end > item.log_start]

    def extent_at_time(self, partition: Partition, timestamp: int) -> Extent | None:
        found = (e for e in self._kept(partition) if e.max_timestamp >= timestamp)
        return next(found, None)

    def newest_extent(self, partition: Partition) -> Extent | None:
        return max(self._kept(partition), key=lambda e: e.max_timestamp, default=None)

    # Swaps

    def replace_extents(
        self, partition: Partition, old: Sequence[Extent], new: Sequence[Extent]
    ) -> bool | Generator[None, None, bool]:
        if partition not in self._items:
            return False
        if self.two_steps:
            return self._settle_and_swap(partition, list(old), list(new))
        item = self.item(partition)
        there = [e for e in item.valid() if old[0].base < e.end <= old[-1].end]
        if there != list(old):
            return there == list(new)
        if not self._take_announced(item, old, new):
            return False
        self._swap(partition, item, old, new)
        return True

    def _settle_and_swap(
        self, partition: Partition, old: list[Extent], new: list[Extent]
    ) -> Generator[None, None, bool]:
        """As on DynamoDB: one write voids a run of slots, and their items go later."""
        item = self.item(partition)
        first = max(item.settled_to, item.log_start)
        if first < old[0].base:
            before = neighbours(self.extents(partition, first, 1_000), first, old[0].base)
            if not before or before[-1].end < old[0].base:
                return False
            self._settle(item, before)
            yield
        if not self._as_given(item, old):
            return self.extents(partition, old[0].base, len(new)) == new
        if not self._take_announced(item, old, new):
            return False
        litter = [e.end - 1 for e in old if e.end - 1 not in item.settled]
        self._swap(partition, item, [e for e in old if e.end - 1 in item.settled], new, old)
        self._settle(item, new)
        yield
        for last in litter:
            if last in item.extents and last not in item.settled:
                item.remove(last)
        return True

    def _as_given(self, item: Item, old: list[Extent]) -> bool:
        settled = [e for e in old if e.base < item.settled_to]
        if any(item.extents.get(e.end - 1) != e for e in settled):
            return False
        if any(e.end - 1 not in item.settled for e in settled):
            return False  # litter, which another swap has voided
        unsettled = old[len(settled) :]
        return not unsettled or (
            item.log_start < old[0].end
            and (bool(settled) or max(item.settled_to, item.log_start) >= old[0].base)
            and unsettled[0].base >= item.settled_to
        )

    @staticmethod
    def _settle(item: Item, extents: Sequence[Extent]) -> None:
        item.settled.update(extent.end - 1 for extent in extents)
        item.settled_to = max(item.settled_to, extents[-1].end)

    @staticmethod
    def _take_announced(item: Item, old: Sequence[Extent], new: Sequence[Extent]) -> bool:
        fresh = {e.key for e in new} - {e.key for e in old}
        if not all(key in item.graves and item.graves[key].announced for key in fresh):
            return False
        for key in fresh:
            del item.graves[key]
        return True

    def _swap(
        self,
        partition: Partition,
        item: Item,
        gone: Sequence[Extent],
        new: Sequence[Extent],
        old: Sequence[Extent] | None = None,
    ) -> None:
        for extent in gone:
            item.remove(extent.end - 1)
        for extent in new:
            if extent.end - 1 in item.extents:
                item.remove(extent.end - 1)
            item.add(extent)
        grave = grave_of(old or gone, new)
        if grave is not None:
            item.graves[grave.name] = grave
        self._truth.swapped(partition, new)

    def announce(self, partition: Partition, grave: Grave) -> None:
        self.item(partition).graves.setdefault(grave.name, grave)

    def graves(self, partition: Partition, limit: int) -> list[Grave]:
        graves = self.item(partition).graves
        return [graves[name] for name in sorted(graves)[:limit]]

    def condemn(self, partition: Partition, name: str, since: int) -> bool:
        graves = self.item(partition).graves
        if name not in graves:
            return False
        graves[name] = graves[name]._replace(since=since, announced=False)
        return True

    def forget_grave(self, partition: Partition, name: str) -> None:
        self.item(partition).graves.pop(name, None)

    def cursor(self, partition: Partition, name: str) -> int:
        return self.item(partition).cursors.get(name, 0)

    def move_cursor(self, partition: Partition, name: str, value: int) -> None:
        self.item(partition).cursors[name] = value

    # Producers, retention, watchers

    def producer(self, partition: Partition, producer_id: int) -> Bound | None:
        return self.item(partition).producers.get(producer_id)

    def producers(self, partition: Partition, _now_ms: int) -> dict[int, Bound]:
        return dict(self.item(partition).producers)

    def bind(
        self, partition: Partition, producer_id: int, state: bytes, after: int, expires_at: int
    ) -> bool:
        producers = self.item(partition).producers
        bound, new = producers.get(producer_id), Bound(after + 1, state)
        if (bound.version if bound else 0) == after:
            producers[producer_id] = new
            return True
        return bound == new

    def advance_start(self, partition: Partition, offset: int) -> Head:
        item = self.item(partition)
        if item.log_start < offset <= item.next_offset:
            item.log_start = offset
            self._truth.moved(partition, item.head())
        return item.head()

    def drop_extents(self, partition: Partition, below: int) -> int:
        item = self.item(partition)
        at = bisect_left(item.lasts, below)
        dropped = item.lasts[:at]
        for last in dropped:
            item.remove(last)
        self._truth.dropped(partition, below)
        return len(dropped)

    def watch(self, partition: Partition, watcher: str, expires_at: int) -> Head:
        item = self.item(partition)
        item.watchers[watcher] = expires_at
        return item.head()

    def unwatch(self, partition: Partition, watcher: str) -> None:
        self.item(partition).watchers.pop(watcher, None)
