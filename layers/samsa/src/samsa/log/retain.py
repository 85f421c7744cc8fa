"""Retention: by time, by size, or for ever.

log_start moves first, then the index is trimmed, then the objects are deleted, after a grace time
for readers that have planned on them (`sweep.py`). A crash after any step leaves work that the next
run finds: extents below log_start, pending deletions. After a merge an extent is a segment of many
appends; it goes when all of it may go, as a Kafka segment does.

Retention moves log_start from extent to extent. An administrator may move it into the middle of an
extent. That extent stays complete, index entry and object, until log_start has passed its end.
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

from samsa.ports import Extent, Head, Partition, PendingDeletion, Topic, Unavailable

from .read import OutOfRange, Reader
from .stores import OBJECTS, Stores, topic_prefix
from .sweep import Sweeper

FOR_EVER = -1
UP_TO_THE_END = -1
DROPPED_AT_ONCE = 500
"""Extents whose objects go into one pending deletion."""


class Retention(NamedTuple):
    max_age_ms: int = FOR_EVER
    max_bytes: int = FOR_EVER


class Retainer:
    def __init__(self, stores: Stores, reader: Reader) -> None:
        self._stores = stores
        self._reader = reader
        self.sweeper = Sweeper(stores)
        self.reclaimed = 0
        """Bytes that retention and deletion have taken out of logs, since this process began."""

    async def retain(self, partition: Partition, rules: Retention) -> int:
        """Apply the rules once; the log's start afterwards."""
        head = await self._reader.head(partition)
        try:
            start = await self._new_start(partition, head, rules)
        except OutOfRange as moved:
            return moved.log_start  # another janitor was faster: the extents counted here are gone
        if start > head.log_start:
            head = await self._stores.ledger.advance_start(partition, start)
        await self._sweep(partition, head)
        return head.log_start

    async def delete_before(self, partition: Partition, offset: int) -> int:
        """Move the log's start to any visible offset, or to the end. Returns the log's start
        afterwards: it never goes back. Raises OutOfRange.
        """
        head = await self._reader.head(partition)
        start = head.next_offset if offset == UP_TO_THE_END else offset
        if not 0 <= start <= head.next_offset:
            raise OutOfRange(head.log_start, head.next_offset)
        if head.log_start < start:
            self.reclaimed += await self._size_between(partition, head, start)
            head = await self._stores.ledger.advance_start(partition, start)
        await self._sweep(partition, head)
        return head.log_start

    async def _size_between(self, partition: Partition, head: Head, start: int) -> int:
        """Bytes that go when the log starts at `start`. An extent that contains `start` stays."""
        size = 0
        with suppress(OutOfRange):  # another process deletes too, and counts the bytes
            async for extent in self._reader.extents(partition, head.log_start, head):
                if extent.end > start:
                    break
                size += extent.size
        return size

    async def size(self, partition: Partition) -> int:
        """Bytes of all extents that are in the log, if only in part."""
        return await self._size(partition, await self._reader.head(partition))

    async def _new_start(self, partition: Partition, head: Head, rules: Retention) -> int:
        if rules.max_age_ms == FOR_EVER and rules.max_bytes == FOR_EVER:
            return head.log_start
        oldest = self._stores.clock.now_ms() - rules.max_age_ms
        start, surplus = head.log_start, -1
        extents = self._reader.extents(partition, head.log_start, head)
        if rules.max_bytes != FOR_EVER:
            # Count and choose from one reading: compaction may shrink the log between two. As in
            # Kafka, an extent goes only if the rest is not below the limit.
            counted = await self._all(partition, head)
            surplus = sum(extent.size for extent in counted) - rules.max_bytes
            extents = _in_turn(counted)
        async for extent in extents:
            too_old = rules.max_age_ms != FOR_EVER and _age_stamp(extent) < oldest
            if not too_old and surplus < extent.size:
                break
            surplus -= extent.size
            start = extent.end
            self.reclaimed += extent.size
        return start

    async def _size(self, partition: Partition, head: Head) -> int:
        return sum(extent.size for extent in await self._all(partition, head))

    async def _all(self, partition: Partition, head: Head) -> list[Extent]:
        """Every extent once. Reads again if a merge joined extents of two pages meanwhile."""
        for _ in range(self._stores.limits.attempts):
            extents = self._reader.extents(partition, head.log_start, head)
            found = [extent async for extent in extents]
            if all(one.end == following.base for one, following in pairwise(found)):
                return found
        raise Unavailable(f"{partition}: its index moves too fast to be counted")

    async def _sweep(self, partition: Partition, head: Head) -> None:
        if head.log_start:
            await self._drop_extents(partition, head.log_start)
        await self.sweeper.sweep(partition)
        if not head.log_start or self._stores.journal.remote:
            return
        if await self.sweeper.below(partition, head.log_start):
            await self.sweeper.sweep(partition)

    async def _drop_extents(self, partition: Partition, below: int) -> None:
        """The ledger remembers the objects before it forgets the extents that name them."""
        ledger = self._stores.ledger
        limit = 1  # mostly there are none
        while found := await ledger.extents(partition, 0, limit):
            aged = [extent for extent in found if extent.end <= below]
            if not aged:
                return
            base, end = aged[0].base, aged[-1].end
            if keys := {extent.key for extent in aged if extent.key.startswith(OBJECTS)}:
                # A fresh name: announcing an existing name would not change its keys.
                name, now = f"aged {self._stores.nonce()}", self._stores.clock.now_ms()
                await ledger.announce(
                    partition, PendingDeletion(name, base, end, tuple(sorted(keys)), now)
                )
            await ledger.drop_extents(partition, end)
            limit = DROPPED_AT_ONCE

    async def bury(self, topic: Topic) -> None:
        """Remove a doomed topic: its objects, then its items, the entry in the list of doomed
        topics last. Then again its objects: some may have been written until its heads were
        gone."""
        await self._delete_all(topic)
        await self._stores.ledger.forget_topic(topic)
        await self._delete_all(topic)

    async def _delete_all(self, topic: Topic) -> None:
        await self.sweeper.delete_all(topic_prefix(topic.id))
        await self._stores.journal.bury(topic.id)


async def _in_turn(extents: Iterable[Extent]) -> AsyncIterator[Extent]:
    for extent in extents:
        yield extent


def _age_stamp(extent: Extent) -> int:
    """An extent's age counts from its records' timestamps, or if they have none from storing."""
    return extent.max_timestamp if extent.max_timestamp >= 0 else extent.stored_at
