"""Rules of the ledger, of orphans and of retention to take out, one at a time."""

from dataclasses import replace as changed
from typing import Any

from samsa.log.core import Log
from samsa.log.retain import Retention
from samsa.log.stores import partition_prefix
from samsa.ports import Bound, Claim, Partition
from samsa.ports.heads import HeadUpdate

from .broken_log import crowded, far
from .items import Item
from .ledger import SimLedger
from .rules import BROKEN, Rules, always, instead, replace
from .setting import Setting


class ClaimsBlindly(SimLedger):
    def _claims_hold(self, item: Item, update: HeadUpdate) -> bool:
        return True

    def _holds(self, item: Item, claim: Claim) -> bool:
        return True


class ForgetsSweeps(SimLedger):
    def _is_not_swept(self, item: Item, update: HeadUpdate) -> bool:
        return True

    def _is_unswept(self, item: Item, sweeps: int | None) -> bool:
        return True


class ForgetsEvictions(SimLedger):
    def _none_evicted(self, item: Item, evictions: int) -> bool:
        return True


class EvictsOverNewer(SimLedger):
    def _is_newer(self, new: Bound, there: Bound) -> bool:
        return True


BROKEN["commit without comparing a producer's state"] = Rules(ledger=ClaimsBlindly)
BROKEN["commit whatever was swept"] = Rules(ledger=ForgetsSweeps)
BROKEN["commit whatever was evicted"] = Rules(ledger=ForgetsEvictions, tune=crowded)
BROKEN["evict over a newer state"] = Rules(ledger=EvictsOverNewer, tune=crowded)


# Orphans


def hunted(setting: Setting) -> Setting:
    """One process puts objects all the time, and looks for orphans all the time."""
    bounds = changed(setting.bounds, inline_bytes=0, few_entries=1)
    return changed(
        far(setting), processes=1, grouped=2, single=1, mergers=3, haste=0.1, bounds=bounds
    )


@instead("delete orphans without counting the sweep")
def sweep_uncounted(log: Log) -> None:
    always(log._stores.journal, "count_sweep", None)


@instead("list objects after counting the sweep", hunted)
def list_late(log: Log) -> None:
    sweeper, stores = log.sweeper, log._stores

    async def find_orphans(_: Any, partition: Partition) -> int:
        await stores.journal.count_sweep(partition)
        keys = [key async for key in stores.objects.list(partition_prefix(partition))]
        orphans = await sweeper._unnamed(partition, keys)
        await stores.objects.delete(orphans)
        return len(orphans)

    replace(sweeper, "find_orphans", find_orphans)


@instead("look for orphans in the index before the head", hunted)
def look_backwards(log: Log) -> None:
    sweeper, stores = log.sweeper, log._stores

    async def find_orphans(_: Any, partition: Partition) -> int:
        keys = [key async for key in stores.objects.list(partition_prefix(partition))]
        await stores.journal.count_sweep(partition)
        deletions = await stores.ledger.pending_deletions(partition, 1_000)
        named = {key for deletion in deletions for key in deletion.keys}
        async for extent in sweeper._extents(partition, 0, 10**9):
            named.add(extent.key)
        named |= {entry.key for entry in (await stores.ledger.head(partition)).tail}
        orphans = [key for key in keys if key not in named]
        await stores.objects.delete(orphans)
        return len(orphans)

    replace(sweeper, "find_orphans", find_orphans)


# Retention


@instead("delete objects before log_start has passed them")
def sweep_first(log: Log) -> None:
    retainer, stores = log.retainer, log._stores

    async def retain(original: Any, partition: Partition, rules: Retention) -> int:
        head = await log.head(partition)
        start = await retainer._new_start(partition, head, rules)
        found = await stores.ledger.extents(partition, 0, 1_000)
        await stores.objects.delete([extent.key for extent in found if extent.end <= start])
        answer: int = await original(partition, rules)
        return answer

    replace(retainer, "retain", retain)
