"""The ledger of a simulation: DynamoDB or SQLite, in memory.

Plain methods are one atomic step. A generator pauses between its steps, where the process may stop
for ever. Every effect is shown to the truth, which knows what must hold after it.
"""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Generator
from dataclasses import dataclass, field

from samsa.ports import Bound, Confirmed, Extent, Head, Partition, UnknownPartition

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

    def head(self) -> Head:
        return Head(self.next_offset, self.log_start, dict(self.inflight), dict(self.watchers))

    def add(self, extent: Extent) -> None:
        last = extent.end - 1
        if last not in self.extents:
            insort(self.lasts, last)
            self.extents[last] = extent


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
        item.add(extent)
        self._truth.indexed(partition, item.extents[extent.end - 1])

    def head(self, partition: Partition) -> Head:
        return self.item(partition).head()

    def index(self, partition: Partition, extent: Extent) -> None:
        self._index(partition, self.item(partition), extent)

    def extents(self, partition: Partition, offset: int, limit: int) -> list[Extent]:
        item = self.item(partition)
        at = bisect_left(item.lasts, offset)
        return [item.extents[last] for last in item.lasts[at : at + limit]]

    def extent_before(self, partition: Partition, offset: int) -> Extent | None:
        item = self.item(partition)
        at = bisect_left(item.lasts, offset)
        return item.extents[item.lasts[at - 1]] if at else None

    def _kept(self, partition: Partition) -> list[Extent]:
        item = self.item(partition)
        at = bisect_left(item.lasts, item.log_start)
        return [item.extents[last] for last in item.lasts[at:]]

    def extent_at_time(self, partition: Partition, timestamp: int) -> Extent | None:
        found = (e for e in self._kept(partition) if e.max_timestamp >= timestamp)
        return next(found, None)

    def newest_extent(self, partition: Partition) -> Extent | None:
        return max(self._kept(partition), key=lambda e: e.max_timestamp, default=None)

    def producer(self, partition: Partition, producer_id: int) -> Bound | None:
        return self.item(partition).producers.get(producer_id)

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
        dropped, item.lasts = item.lasts[:at], item.lasts[at:]
        for last in dropped:
            del item.extents[last]
        self._truth.dropped(partition, below)
        return len(dropped)

    def watch(self, partition: Partition, watcher: str, expires_at: int) -> Head:
        item = self.item(partition)
        item.watchers[watcher] = expires_at
        return item.head()

    def unwatch(self, partition: Partition, watcher: str) -> None:
        self.item(partition).watchers.pop(watcher, None)
