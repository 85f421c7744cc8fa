"""The janitor: upkeep of one partition at a time: retain, sweep, settle, merge; and, every six
hours, a look through all of its index and objects.

No step is needed for correctness, and each may stop in the middle: the next round, or another
janitor at the same time, finds what is left. What was done is counted, for metrics.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from samsa.ports import Head, Partition, has_passed

from .failures import Failures
from .merge import Merged, Merger, RoundBudget
from .retain import Retainer, Retention
from .runs import Sizes
from .spills import SPILLS, sweep_spills
from .stores import Stores
from .sweep import Sweeper
from .windows import WindowSweeper

LOOKED = "looked"
LOOK_EVERY_MS = 6 * 3_600_000
WATCHER_MS = 600_000
PAGE = 500
SMALL = 1024 * 1024
"""For an object up to this size, the request costs more than the transfer."""
SPILLS_EVERY_MS = 3_600_000
WINDOWS_SWEPT = "windows swept"
WINDOWS_EVERY_MS = 3_600_000
INLINE = ""
"""The key of extents whose bytes are in the ledger, and in no object."""


class TopicRules(NamedTuple):
    """What a topic's configs say."""

    retention: Retention
    sizes: Sizes


class Census(NamedTuple):
    """What a partition is made of."""

    objects: int = 0
    size: int = 0
    small: int = 0

    def plus(self, other: "Census") -> "Census":
        return Census(*map(sum, zip(self, other, strict=True)))


class Counted(NamedTuple):
    """When a census was taken, and of what."""

    at_ms: int
    next_offset: int
    log_start: int
    moved: bool = False
    """Whether something was merged since."""


@dataclass
class Counts:
    """What this process has done and seen since it started."""

    runs: int = 0
    extents: int = 0
    copied_bytes: int = 0
    compacted_bytes: int = 0
    """By how many bytes compaction has made logs smaller."""
    orphans: int = 0
    census: dict[Partition, Census] = field(default_factory=dict)
    counted: dict[Partition, Counted] = field(default_factory=dict)

    def total(self) -> Census:
        total = Census()
        for one in self.census.values():
            total = total.plus(one)
        return total

    def forget(self, partition: Partition) -> None:
        self.census.pop(partition, None)
        self.counted.pop(partition, None)


class Janitor:
    def __init__(
        self,
        stores: Stores,
        retainer: Retainer,
        merger: Merger,
        sweeper: Sweeper,
        windows: WindowSweeper,
    ) -> None:
        self._stores = stores
        self._retainer = retainer
        self._merger = merger
        self._sweeper = sweeper
        self.windows = windows
        self._spills_at = 0
        self.count_ms: int | None = None
        """How old a census may be, if it is asked for regularly; None: it is not."""
        self.counts = Counts()
        self.failures = Failures()

    async def tend(self, partition: Partition, rules: TopicRules, budget: RoundBudget) -> Merged:
        """One round over one partition."""
        await self.retain(partition, rules)
        merged = await self.merge(partition, rules, budget)
        await self.inspect(partition, budget)
        return merged

    async def retain(self, partition: Partition, rules: TopicRules) -> None:
        await self._retainer.retain(partition, rules.retention)

    async def merge(self, partition: Partition, rules: TopicRules, budget: RoundBudget) -> Merged:
        merged = await self._merger.merge(partition, budget, rules.sizes)
        if merged.runs and partition in self.counts.counted:
            self.counts.counted[partition] = self.counts.counted[partition]._replace(moved=True)
        self.counts.runs += merged.runs
        self.counts.extents += merged.extents
        self.counts.copied_bytes += merged.copied_bytes
        return merged

    async def inspect(self, partition: Partition, budget: RoundBudget) -> None:
        """Remove old watchers from the head. If due, look through the log or take a census."""
        head = await self._stores.ledger.head(partition)
        await self._see(partition, head)
        if not budget.out_of_time():
            if await self._is_due(partition):
                await self.look(partition)
            elif self._is_stale(partition, head):
                await self._count(partition)

    async def _see(self, partition: Partition, head: Head) -> None:
        now = self._stores.clock.now_ms()
        for watcher, until in head.watchers.items():
            if abs(now - until) > WATCHER_MS:
                await self._stores.ledger.unwatch(partition, watcher)

    async def _is_due(self, partition: Partition) -> bool:
        if partition not in self.counts.census and not self._stores.objects.remote:
            return True  # this process has not looked yet, and locally it costs nothing
        looked = await self._stores.ledger.cursor(partition, LOOKED)
        return has_passed(self._stores.clock.now_ms(), looked, LOOK_EVERY_MS)

    async def look(self, partition: Partition) -> Census:
        """Delete orphans and take a census: reads all of the index and lists all objects."""
        self.counts.orphans += await self._sweeper.find_orphans(partition)
        await self._stores.ledger.move_cursor(partition, LOOKED, self._stores.clock.now_ms())
        return await self._count(partition)

    def _is_stale(self, partition: Partition, head: Head) -> bool:
        if self.count_ms is None:
            return False
        last, now = self.counts.counted.get(partition), self._stores.clock.now_ms()
        if last is None:
            return True
        grown = (head.next_offset, head.log_start) != (last.next_offset, last.log_start)
        return (grown or last.moved) and has_passed(now, last.at_ms, self.count_ms)

    async def _count(self, partition: Partition) -> Census:
        """Take a census: reads the index only."""
        head = await self._stores.ledger.head(partition)
        unsettled = {entry.base: entry for entry in head.tail if entry.end > head.log_start}
        now = self._stores.clock.now_ms()
        self.counts.counted[partition] = Counted(now, head.next_offset, head.log_start)
        sizes: Counter[str] = Counter()
        offset = head.log_start
        while found := await self._stores.ledger.extents(partition, offset, PAGE):
            for extent in found:
                sizes[extent.key] += extent.size
                unsettled.pop(extent.base, None)
            offset = found[-1].end
        for entry in unsettled.values():
            sizes[entry.key] += entry.size
        size, _ = sizes.total(), sizes.pop(INLINE, 0)
        small = sum(of_object < SMALL for of_object in sizes.values())
        census = self.counts.census[partition] = Census(len(sizes), size, small)
        return census

    async def sweep_spills(self) -> None:
        """Delete requests and responses that were too large for a message. In S3 a lifecycle rule
        of the bucket does this."""
        now = self._stores.clock.now_ms()
        if not self._stores.objects.remote and has_passed(now, self._spills_at, SPILLS_EVERY_MS):
            self._spills_at = now
            await sweep_spills(self._stores)

    async def sweep_windows(self) -> None:
        """Once an hour, normally by only one process of the cluster."""
        stores, now = self._stores, self._stores.clock.now_ms()
        if not stores.journal.remote:
            return
        swept_at = await stores.ledger.cursor(SPILLS, WINDOWS_SWEPT)
        if has_passed(now, swept_at, WINDOWS_EVERY_MS):
            await stores.ledger.move_cursor(SPILLS, WINDOWS_SWEPT, now)
            await self.windows.sweep()
