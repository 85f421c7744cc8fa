"""Fence: close a slot whose writer has gone quiet.

Anyone who meets a token older than `fence_after`, or one that was opened further ahead (the clock
was set back since), puts filler of the same length at its key, if the
key is free, and confirms whatever is there then, data or filler. Doing it too early is safe,
because the slot is a write-once cell: the writer finds its put refused, or its token gone, and
looks.
"""

import asyncio

from samsa.ports import Extent, Head, Missing, Partition, UnknownPartition, has_passed
from samsa.records.batch import filler, read_header

from .background import Background
from .extents import describe, describe_object
from .stores import Stores, slot_key
from .tokens import Token

NO_TIMESTAMP = -1


class Fencer:
    def __init__(self, stores: Stores, background: Background) -> None:
        self._stores = stores
        self._background = background
        self._closing: dict[tuple[str, int], asyncio.Task[None]] = {}

    def stale(self, head: Head) -> list[tuple[str, int]]:
        now, after = self._stores.clock.now_ms(), self._stores.limits.fence_after_ms
        return [
            (token, base)
            for token, base in head.inflight.items()
            if has_passed(now, Token.parse(token).opened_at, after)
        ]

    def look(self, partition: Partition, head: Head) -> "list[asyncio.Task[None]]":
        """Close in the background what is stale in a head that somebody read anyway."""
        return [self.soon(partition, *slot) for slot in self.stale(head)]

    def soon(self, partition: Partition, token: str, base: int) -> "asyncio.Task[None]":
        slot = token, base  # a reserve that came again after a fence has the token twice
        task = self._closing.get(slot)
        if task is None:
            task = self._background.start(self.fence(partition, token, base))
            self._closing[slot] = task
            task.add_done_callback(lambda _: self._closing.pop(slot))
        return task

    async def fence(self, partition: Partition, token: str, base: int) -> None:
        extent = await self._fill(partition, token, base)
        if extent is not None:
            await self._close(partition, token, extent)

    async def fence_all(self, partition: Partition, head: Head) -> None:
        """Close every open slot: for a process that knows itself to be the only one."""
        for token, base in head.inflight.items():
            await self.fence(partition, token, base)

    async def _fill(self, partition: Partition, token: str, base: int) -> Extent | None:
        objects, key = self._stores.objects, slot_key(partition, base)
        now = self._stores.clock.now_ms()
        empty = filler(base, Token.parse(token).offsets, NO_TIMESTAMP)
        if await self._stores.insist(objects.put_if_absent, key, [empty]):
            return describe(key, base, [(0, read_header(empty))], now)
        try:
            data = await self._stores.insist(objects.get, key)
        except Missing:
            return None  # closed and swept meanwhile: there is no token left to remove
        return describe_object(partition, base, data, now)

    async def _close(self, partition: Partition, token: str, extent: Extent) -> None:
        ledger = self._stores.ledger
        try:
            confirmed = await self._stores.insist(ledger.confirm, partition, token, extent)
        except UnknownPartition:
            # The topic is gone, and whoever buried it may have looked before this was put.
            await self._stores.objects.delete([extent.key])
            return
        self._stores.wakeups.wake(partition, confirmed.head.watchers)
