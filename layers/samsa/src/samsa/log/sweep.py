"""Sweep: objects that nothing leads to any more are deleted, a grace time after it was found so.

The ledger remembers them in graves. A swap digs one for what it took out of the index, retention
one for all that lies below the log's start, and whoever writes a segment one for that, which the
swap removes again. Whoever finds a grave first writes down when; whoever finds it so much later
that no reader can still have planned on what is in it deletes that, and then forgets the grave. A
crash in between leaves a grave to be found again, and deleting twice does no harm.

Somebody who slept may put something under a key that was swept. Nobody reads it, and a look through
all objects finds it.

An announced object that nobody swapped in for long is condemned first: from then on no swap can
take it, and only then is it deleted.
"""

from bisect import bisect_right
from collections.abc import AsyncIterator, Sequence

from samsa.ports import Extent, Grave, Partition, has_passed

from .segments import is_segment_key, key_base
from .stores import Stores, partition_prefix, slot_key

FLOOR = "floor "
FLOORS = 8
"""How many of them there may be at a time: a log's start may move faster than objects go."""
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
        """Once over the graves; how many are left."""
        ledger, limits = self._stores.ledger, self._stores.limits
        graves = await ledger.graves(partition, AT_ONCE)
        for grave in graves:
            now = self._stores.clock.now_ms()
            age = now - grave.since
            if grave.announced:
                if has_passed(now, grave.since, limits.building_ms):
                    await ledger.condemn(partition, grave.name, now)
            elif not grave.since or age < -limits.sweep_grace_ms:
                # Found just now; or before the clock was set back, and its time begins again.
                await ledger.condemn(partition, grave.name, now)
            elif age >= limits.sweep_grace_ms and await self._empty(partition, grave):
                await ledger.forget_grave(partition, grave.name)
        return len(graves)

    async def below(self, partition: Partition, floor: int) -> bool:
        """All that lies below `floor`, where a slot begins that is still read, is to go. False:
        that is known already, or others like it must be forgotten first."""
        ledger = self._stores.ledger
        if floor <= await ledger.cursor(partition, SWEPT):
            return False
        graves, name = await ledger.graves(partition, AT_ONCE), f"{FLOOR}{floor:020d}"
        floors = {grave.name for grave in graves if grave.name.startswith(FLOOR)}
        if name in floors or len(floors) >= FLOORS:
            return False
        now = self._stores.clock.now_ms()
        await ledger.announce(partition, Grave(name, 0, floor, (), now))
        return True

    async def find_orphans(self, partition: Partition) -> int:
        """Objects that neither an extent nor a grave names, and no slot can have use for; how many.

        In this order: what is not in the index yet is announced, until the moment it is indexed.
        """
        keys = [key async for key in self._stores.objects.list(partition_prefix(partition))]
        head = await self._stores.ledger.head(partition)
        graves = await self._stores.ledger.graves(partition, ALL)
        buried = {key for grave in graves for key in grave.keys}
        buried |= {key for key in keys if _lies_in(key, graves)}
        index = [extent async for extent in self._extents(partition, 0, head.next_offset)]
        named = {extent.key for extent in index}
        orphans = [
            key
            for key in keys
            if key not in named
            and key not in buried
            and (is_segment_key(key) or _is_past(key_base(key), index, head.log_start))
        ]
        now = self._stores.clock.now_ms()
        for start in range(0, len(orphans), DELETE_AT_ONCE):
            some = tuple(orphans[start : start + DELETE_AT_ONCE])
            await self._stores.ledger.announce(
                partition, Grave(f"orphans {some[0]}", 0, 0, some, now)
            )
        return len(orphans)

    async def _empty(self, partition: Partition, grave: Grave) -> bool:
        """Delete what is in a grave. False: not all of it can be yet."""
        if grave.name.startswith(FLOOR):
            return await self._below(partition, grave.end)
        held = self._extents(partition, grave.base, grave.end)
        named = {extent.key async for extent in held}
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

    async def _extents(self, partition: Partition, base: int, end: int) -> AsyncIterator[Extent]:
        while base < end:
            found = await self._stores.ledger.extents(partition, base, PAGE)
            for extent in found:
                if extent.base < end:
                    yield extent
            base = found[-1].end if found else end

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


def _lies_in(key: str, graves: Sequence[Grave]) -> bool:
    base = key_base(key)
    return not is_segment_key(key) and any(grave.base <= base < grave.end for grave in graves)


def _is_past(base: int, index: Sequence[Extent], log_start: int) -> bool:
    """Whether the slot that begins at `base` is below the log's start, or in an extent. Where the
    log starts inside a slot, that one is indexed."""
    at = bisect_right(index, base, key=lambda extent: extent.end)
    return base < log_start or (at < len(index) and index[at].base <= base)
