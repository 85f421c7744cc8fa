"""Sweep: deletes objects that nothing refers to any more, after a grace time.

The ledger names them in pending deletions (in SQLite, the table `graves`). A swap adds one for the
objects that it took out of the index. Retention adds one for the objects below the log's start. The
writer of a segment adds one for the new object (announces it), and the swap removes that one again.
A sweep that finds a pending deletion without a time stores the time. A sweep that finds it after
the grace time, when no reader can still have planned on its objects, deletes them and then removes
the pending deletion. After a crash in between, it is found again; deleting twice is harmless.

Objects that were put and never committed are found by listing all objects.

If an announced object is not swapped in for long, it is condemned first: from then on no swap can
take it. Only then is it deleted.
"""

from collections.abc import AsyncIterator

from samsa.ports import Extent, Partition, PendingDeletion, has_passed

from .stores import Stores, partition_prefix

FLOOR = "floor "
FLOORS = 8
"""Most floors that are pending at a time: a log's start may move faster than objects go."""
SWEPT = "swept"
AT_ONCE = 1_000
ALL = 100_000
DELETE_AT_ONCE = 500
PAGE = 500


class Sweeper:
    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self.deleted = 0
        """Objects, since this process began."""

    async def sweep(self, partition: Partition) -> int:
        """One pass over the pending deletions; how many there were."""
        ledger, limits = self._stores.ledger, self._stores.limits
        deletions = await ledger.pending_deletions(partition, AT_ONCE)
        for deletion in deletions:
            now = self._stores.clock.now_ms()
            age = now - deletion.since
            if deletion.announced:
                if has_passed(now, deletion.since, limits.building_ms):
                    await ledger.condemn(partition, deletion.name, now)
            elif not deletion.since or age < -limits.sweep_grace_ms:
                # Found now for the first time; or the clock was set back, and its time restarts.
                await ledger.condemn(partition, deletion.name, now)
            elif age >= limits.sweep_grace_ms and await self._empty(partition, deletion):
                await ledger.forget_deletion(partition, deletion.name)
        return len(deletions)

    async def below(self, partition: Partition, floor: int) -> bool:
        """Add a pending deletion for what the journal keeps only below `floor`, the log's start.
        False: it is there already, or too many floors are pending."""
        ledger = self._stores.ledger
        if floor <= await ledger.cursor(partition, SWEPT):
            return False
        deletions, name = await ledger.pending_deletions(partition, AT_ONCE), f"{FLOOR}{floor:020d}"
        floors = {deletion.name for deletion in deletions if deletion.name.startswith(FLOOR)}
        if name in floors or len(floors) >= FLOORS:
            return False
        now = self._stores.clock.now_ms()
        await ledger.announce(partition, PendingDeletion(name, 0, floor, (), now))
        return True

    async def find_orphans(self, partition: Partition) -> int:
        """Delete the objects that were put and never committed; how many.

        A listed object may be about to be committed. So a sweep is counted first: a commit that
        began before that cannot show its object afterwards. An object that is not in the log then
        will never be, unless it is a segment that is still announced.
        """
        keys = [key async for key in self._stores.objects.list(partition_prefix(partition))]
        orphans = await self._unnamed(partition, keys)
        if not orphans:
            return 0
        await self._stores.journal.count_sweep(partition)
        orphans = await self._unnamed(partition, orphans)
        await self.delete(orphans)
        return len(orphans)

    async def _unnamed(self, partition: Partition, keys: list[str]) -> list[str]:
        named = await self.named(partition)
        return [key for key in keys if key not in named]

    async def named(self, partition: Partition, offset: int = 0) -> set[str]:
        """Keys that the partition names, at or above an offset. The order of the reads matters: an
        object is announced, or in the head's tail, until the moment it is in the index."""
        deletions = await self._stores.ledger.pending_deletions(partition, ALL)
        head = await self._stores.ledger.head(partition)
        named = {key for deletion in deletions for key in deletion.keys}
        named |= {entry.key for entry in head.tail}
        async for extent in self._extents(partition, offset, head.next_offset):
            named.add(extent.key)
        return named

    async def delete(self, keys: list[str]) -> None:
        for start in range(0, len(keys), DELETE_AT_ONCE):
            await self._stores.objects.delete(keys[start : start + DELETE_AT_ONCE])
        self.deleted += len(keys)

    async def _empty(self, partition: Partition, deletion: PendingDeletion) -> bool:
        """Delete the objects of a pending deletion. False: some cannot be deleted yet."""
        if deletion.name.startswith(FLOOR):
            await self._stores.journal.sweep(partition, deletion.end)
            await self._stores.ledger.move_cursor(partition, SWEPT, deletion.end)
            return True
        held = self._extents(partition, deletion.base, deletion.end)
        named = {extent.key async for extent in held}
        return await self._delete(partition, [key for key in deletion.keys if key not in named])

    async def _extents(self, partition: Partition, base: int, end: int) -> AsyncIterator[Extent]:
        while base < end:
            found = await self._stores.ledger.extents(partition, base, PAGE)
            for extent in found:
                if extent.base < end:
                    yield extent
            base = found[-1].end if found else end

    async def _delete(self, partition: Partition, keys: list[str]) -> bool:
        prefix, all_gone = partition_prefix(partition), True
        await self.delete([key for key in keys if key.startswith(prefix)])
        for key in keys:
            if not key.startswith(prefix):
                all_gone &= await self._stores.journal.discard(partition, key)
        return all_gone

    async def delete_all(self, prefix: str) -> None:
        keys: list[str] = []
        async for key in self._stores.objects.list(prefix):
            keys.append(key)
            if len(keys) == DELETE_AT_ONCE:
                await self._stores.objects.delete(keys)
                keys.clear()
        if keys:
            await self._stores.objects.delete(keys)
