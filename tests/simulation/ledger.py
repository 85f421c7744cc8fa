"""The ledger of a simulation: DynamoDB or SQLite, in memory.

Plain methods are one atomic step. A generator pauses between its steps, where the process may stop
for ever. Every effect is shown to the truth, which knows what must hold after it.
"""

from bisect import bisect_left
from collections.abc import Generator, Sequence

from samsa.aws.extents import neighbours, uncovered
from samsa.ports import Aborted, Bound, Extent, Head, Partition, PendingDeletion, deletions_of

from .heads import HeadCalls
from .items import Item
from .rows import RowCalls


class SimLedger(HeadCalls, RowCalls):
    def head(self, partition: Partition) -> Head:
        return self.item(partition).head()

    def index(self, partition: Partition, extent: Extent) -> None:
        item = self.item(partition)
        added = (self.remote or self._is_free(item, extent)) and item.add(extent)
        if added and item.counts(extent, item.settled_to):
            self._truth.indexed(partition, extent)

    def _is_free(self, item: Item, extent: Extent) -> bool:
        return item.holder(extent) is None

    def extents(
        self, partition: Partition, offset: int, limit: int, settled_to: int | None = None
    ) -> list[Extent]:
        found = [e for e in self.item(partition).valid(settled_to) if e.end > offset][:limit]
        return uncovered(found)

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
        if self.remote:
            return self._settle_and_swap(partition, list(old), list(new))
        item = self.item(partition)
        there = [e for e in item.valid() if old[0].base < e.end <= old[-1].end]
        if there != list(old):
            return there == list(new)
        if not self._take_announced(item, old, new):
            return False
        self._swap(item, old, new)
        self._truth.swapped(partition, new)
        return True

    def _settle_and_swap(
        self, partition: Partition, old: list[Extent], new: list[Extent]
    ) -> Generator[None, None, bool]:
        """As on DynamoDB: one write voids a run of extents, and their items go later."""
        item = self.item(partition)
        first = max(item.settled_to, item.log_start)
        in_tail = self._first_of_tail(item)
        if first < old[0].base:
            below = min(old[0].base, in_tail)
            before = neighbours(self.extents(partition, first, 1_000), first, below)
            if not before or before[-1].end < old[0].base:
                return False
            self._settle(item, before)
            yield
        if in_tail < old[-1].end:
            return False
        if not self._as_given(item, old):
            return self.extents(partition, old[0].base, len(new)) == new
        if not self._take_announced(item, old, new):
            return False
        litter = [e.end - 1 for e in old if e.end - 1 not in item.settled]
        self._swap(item, [e for e in old if e.end - 1 in item.settled], new, old)
        self._settle(item, new)
        self._truth.swapped(partition, new)
        yield
        for last in litter:
            if last in item.extents and last not in item.settled:
                item.remove(last)
        return True

    def _first_of_tail(self, item: Item) -> int:
        return min((entry.base for entry in item.tail.values()), default=item.next_offset)

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
        fresh = {e.key for e in new} - {"", *(e.key for e in old)}
        if not all(key in item.deletions and item.deletions[key].announced for key in fresh):
            return False
        for key in fresh:
            del item.deletions[key]
        return True

    def _swap(
        self,
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
        for deletion in deletions_of(old or gone, new):
            item.deletions.setdefault(deletion.name, deletion)

    def announce(self, partition: Partition, deletion: PendingDeletion) -> None:
        self.item(partition).deletions.setdefault(deletion.name, deletion)

    def pending_deletions(self, partition: Partition, limit: int) -> list[PendingDeletion]:
        deletions = self.item(partition).deletions
        return [deletions[name] for name in sorted(deletions)[:limit]]

    def condemn(self, partition: Partition, name: str, since: int) -> bool:
        deletions = self.item(partition).deletions
        if name not in deletions:
            return False
        deletions[name] = deletions[name]._replace(since=since, announced=False)
        return True

    def forget_deletion(self, partition: Partition, name: str) -> None:
        self.item(partition).deletions.pop(name, None)

    def cursor(self, partition: Partition, name: str) -> int:
        return self.item(partition).cursors.get(name, 0)

    def move_cursor(self, partition: Partition, name: str, value: int) -> None:
        self.item(partition).cursors[name] = value

    # Aborted transactions

    def aborted(self, partition: Partition, offset: int, end: int) -> list[Aborted]:
        found, item = [], self.item(partition)
        for marker, one in sorted(item.aborted.items()):
            if marker >= max(offset, item.aborted_from):
                if one.first < end:
                    found.append(one)
                if one.stable >= end:
                    break
        return found

    def forget_aborted(self, partition: Partition, markers: Sequence[int], below: int = 0) -> None:
        item = self.item(partition)
        if self.remote:
            item.aborted_from = max(item.aborted_from, below)
        self._forget(item, markers)

    def _forget(self, item: Item, markers: Sequence[int]) -> None:
        for marker in markers:
            item.aborted.pop(marker, None)
        if not self.remote:
            item.aborted_to = max(item.aborted, default=-1) + 1

    # Producers, retention, watchers

    def producers(self, partition: Partition, _now_ms: int) -> dict[int, Bound]:
        item = self.item(partition)
        return {**item.producers, **{one: there.bound for one, there in item.in_head.items()}}

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
        self._forget(item, [marker for marker in item.aborted if marker < below])
        self._truth.dropped(partition, below)
        return len(dropped)

    def watch(self, partition: Partition, watcher: str, expires_at: int) -> Head:
        item = self.item(partition)
        item.watchers[watcher] = expires_at
        return item.head()

    def unwatch(self, partition: Partition, watcher: str) -> None:
        self.item(partition).watchers.pop(watcher, None)
