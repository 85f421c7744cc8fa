"""Watches: telling the other processes of a cluster that someone here waits for a partition.

A process enters itself among a head's watchers once, for a while, however many of its clients wait
there. A confirm returns the head, and so the addresses to wake.
"""

from collections import OrderedDict

from samsa.ports import Partition

from .stores import Stores

WATCH_MS = 60_000
RENEW_MS = 30_000
REMEMBERED = 100_000


class Watches:
    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._until: OrderedDict[Partition, int] = OrderedDict()

    async def ensure(self, partition: Partition) -> bool:
        """True if the watch is new: whatever came before it must be looked for again."""
        now = self._stores.clock.now_ms()
        if WATCH_MS - RENEW_MS < self._until.get(partition, 0) - now <= WATCH_MS:
            return False
        await self._stores.ledger.watch(partition, self._stores.wakeups.address, now + WATCH_MS)
        fresh = self._until.get(partition, 0) <= now
        self._until[partition] = now + WATCH_MS
        self._until.move_to_end(partition)
        if len(self._until) > REMEMBERED:
            self._until.popitem(last=False)
        return fresh
