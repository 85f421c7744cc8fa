"""Sweep: objects that nothing leads to any more are deleted, a grace time after it was found so.

The ledger remembers them in graves. A swap digs one for what it took out of the index, retention
one for all that lies below the log's start, and whoever writes a segment one for that, which the
swap removes again. Whoever finds a grave first writes down when; whoever finds it so much later
that no reader can still have planned on what is in it deletes that, and then forgets the grave. A
crash in between leaves a grave to be found again, and deleting twice does no harm.

An announced object that nobody swapped in for long is condemned first: from then on no swap can
take it, and only then is it deleted.
"""

from collections.abc import AsyncIterator

from samsa.ports import Extent, Grave, Partition

from .segments import is_segment_key, key_base
from .stores import Stores, partition_prefix, slot_key

FLOOR = "floor "
SWEPT = "swept"
AT_ONCE = 1_000
DELETE_AT_ONCE = 500
PAGE = 500


class Sweeper:
    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self.deleted = 0
        """Objects, since this process began."""

    async def sweep(self, partition: Partition) -> int:
        """Once over the graves; how many are left."""
        ledger = self._stores.ledger
        graves = await ledger.graves(partition, AT_ONCE)
        for grave in graves:
            age = self._stores.clock.now_ms() - grave.since
            if grave.announced:
                if age >= self._stores.limits.building_ms:
                    await ledger.condemn(partition, grave.name, self._stores.clock.now_ms())
            elif not grave.since:
                await ledger.condemn(partition, grave.name, self._stores.clock.now_ms())
            elif age >= self._stores.limits.sweep_grace_ms and await self._empty(partition, grave):
                await ledger.forget_grave(partition, grave.name)
        return len(graves)

    async def below(self, partition: Partition, floor: int) -> bool:
        """All that lies below `floor`, where a slot begins that is still read, is to go. False:
        it is known already, or another such grave must be forgotten first."""
        ledger = self._stores.ledger
        if floor <= await ledger.cursor(partition, SWEPT):
            return False
        if any(grave.name.startswith(FLOOR) for grave in await ledger.graves(partition, AT_ONCE)):
            return False
        now = self._stores.clock.now_ms()
        await ledger.announce(partition, Grave(f"{FLOOR}{floor:020d}", 0, floor, (), now))
        return True

    async def _empty(self, partition: Partition, grave: Grave) -> bool:
        """Delete what is in a grave. False: not all of it can be yet."""
        if grave.name.startswith(FLOOR):
            return await self._below(partition, grave.end)
        named = {extent.key async for extent in self._extents(partition, grave)}
        gone = [key for key in grave.keys if key not in named]
        gone += [key async for key in self._slots(partition, grave) if key not in named]
        return await self._delete(partition, gone)

    async def _below(self, partition: Partition, floor: int) -> bool:
        prefix = partition_prefix(partition)
        await self.delete_all(prefix, slot_key(partition, floor))
        if self._stores.journal is not None:
            await self._stores.journal.sweep(partition, floor)
        await self._stores.ledger.move_cursor(partition, SWEPT, floor)
        return True

    async def _extents(self, partition: Partition, grave: Grave) -> AsyncIterator[Extent]:
        offset = grave.base
        while found := await self._stores.ledger.extents(partition, offset, PAGE):
            for extent in found:
                if extent.base >= grave.end:
                    return
                yield extent
            offset = found[-1].end

    async def _slots(self, partition: Partition, grave: Grave) -> AsyncIterator[str]:
        if grave.base < grave.end:
            below = slot_key(partition, grave.end)
            async for key in self._stores.objects.list(partition_prefix(partition), below):
                if key_base(key) >= grave.base and not is_segment_key(key):
                    yield key

    async def _delete(self, partition: Partition, keys: list[str]) -> bool:
        prefix, journal, all_gone = partition_prefix(partition), self._stores.journal, True
        own = [key for key in keys if key.startswith(prefix)]
        for start in range(0, len(own), DELETE_AT_ONCE):
            await self._stores.objects.delete(own[start : start + DELETE_AT_ONCE])
        for key in set(keys) - set(own):
            all_gone &= journal is not None and await journal.discard(partition, key)
        self.deleted += len(own)
        return all_gone

    async def delete_all(self, prefix: str, below: str | None) -> None:
        keys: list[str] = []
        async for key in self._stores.objects.list(prefix, below):
            keys.append(key)
            if len(keys) == DELETE_AT_ONCE:
                await self._stores.objects.delete(keys)
                keys.clear()
        if keys:
            await self._stores.objects.delete(keys)
