"""Rules of merging and sweeping to take out, one at a time."""

from collections.abc import Sequence
from dataclasses import replace as changed
from typing import Any

from samsa.log.core import Log
from samsa.log.retain import Retention
from samsa.log.stores import partition_prefix
from samsa.ports import Extent, Partition, PendingDeletion

from .ledger import Item, SimLedger
from .rules import BROKEN, Rules, instead, replace
from .setting import Setting


def busy(setting: Setting) -> Setting:
    """Merged early and often, by several, who take anything unfinished for given up."""
    limits = changed(setting.limits, merge_after_ms=0, building_ms=0, segment_bytes=400)
    return changed(setting, mergers=3, processes=3, haste=0.3, limits=limits)


def with_grace(setting: Setting) -> Setting:
    return changed(busy(setting), limits=changed(busy(setting).limits, sweep_grace_ms=5_000))


def without_grace(setting: Setting) -> Setting:
    return changed(busy(setting), limits=changed(busy(setting).limits, sweep_grace_ms=0))


def one_merger(setting: Setting) -> Setting:
    """Nobody merges but one, and everybody sweeps."""
    return changed(
        without_grace(setting),
        mergers=1,
        janitors=3,
        deleters=0,
        retention=Retention(max_bytes=10**9),
    )


class BringsBack(SimLedger):
    """Whoever settles an entry late finds its place in the index free."""

    def _is_free(self, item: Item, extent: Extent) -> bool:
        return extent.end - 1 not in item.extents

    @staticmethod
    def _settle(item: Item, extents: Sequence[Extent]) -> None:
        item.settled.update(extent.end - 1 for extent in extents)


class SwapsBlindly(SimLedger):
    def replace_extents(
        self, partition: Partition, old: Sequence[Extent], new: Sequence[Extent]
    ) -> bool:
        item = self.item(partition)
        there = [e for e in item.valid() if old[0].base < e.end <= old[-1].end]
        self._take_announced(item, old, new)
        if there:
            self._swap(item, there, new)
            self._truth.swapped(partition, new)
            self._settle(item, new) if self.remote else None
        return True


class SwapsInTheCondemned(SimLedger):
    @staticmethod
    def _take_announced(item: Item, old: Sequence[Extent], new: Sequence[Extent]) -> bool:
        for key in {e.key for e in new} - {e.key for e in old}:
            item.deletions.pop(key, None)
        return True


BROKEN["take an extent back that was merged"] = Rules(ledger=BringsBack, tune=without_grace)
BROKEN["swap without comparing"] = Rules(ledger=SwapsBlindly, tune=busy)
BROKEN["swap in what was condemned"] = Rules(ledger=SwapsInTheCondemned, tune=one_merger)


@instead("delete what is announced without condemning it", busy)
def delete_announced(log: Log) -> None:
    ledger = log._stores.ledger

    async def sweep(original: Any, partition: Partition) -> int:
        for deletion in await ledger.pending_deletions(partition, 1_000):
            if deletion.announced:
                await log.sweeper._delete(partition, list(deletion.keys))
        left: int = await original(partition)
        return left

    replace(log.sweeper, "sweep", sweep)


@instead("delete at once what was merged", with_grace)
def no_grace(log: Log) -> None:
    ledger = log._stores.ledger

    async def sweep(original: Any, partition: Partition) -> int:
        for deletion in await ledger.pending_deletions(partition, 1_000):
            if not deletion.announced and await log.sweeper._empty(partition, deletion):
                await ledger.forget_deletion(partition, deletion.name)
        left: int = await original(partition)
        return left

    replace(log.sweeper, "sweep", sweep)


@instead("write a segment that nobody announced", without_grace)
def unannounced(log: Log) -> None:
    sweeper, stores = log.sweeper, log._stores

    async def announce(original: Any, partition: Partition, deletion: PendingDeletion) -> None:
        await original(partition, deletion._replace(keys=()) if deletion.announced else deletion)

    async def look_once(_: Any, partition: Partition) -> int:
        """Safe by itself, and soon wrong without the announcement."""
        keys = [key async for key in stores.objects.list(partition_prefix(partition))]
        await stores.journal.count_sweep(partition)
        orphans = await sweeper._unnamed(partition, keys)
        await stores.objects.delete(orphans)
        return len(orphans)

    replace(stores.ledger, "announce", announce)
    replace(sweeper, "find_orphans", look_once)


@instead("delete objects of a pending deletion without looking whether an extent names them")
def empty_blindly(log: Log) -> None:
    async def extents(*_: Any) -> Any:
        for nothing in ():
            yield nothing

    log.sweeper._extents = extents  # type: ignore[method-assign]


@instead("merge in the order of sizes")
def merge_unordered(log: Log) -> None:
    async def copy(original: Any, partition: Partition, run: Sequence[Extent]) -> Extent | None:
        new: Extent | None = await original(partition, sorted(run, key=lambda e: -e.size))
        return new

    replace(log.merger, "copy", copy)
