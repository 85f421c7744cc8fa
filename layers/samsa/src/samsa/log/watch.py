"""Watches: tell the other processes of a cluster that a request waits here for a partition.

A process adds itself to a head's watchers once, for a limited time, however many of its clients
wait. A commit returns the head, and so the addresses to wake.
"""

from samsa.bounded import Bounded
from samsa.ports import Partition

from .stores import Stores

WATCH_MS = 60_000
RENEW_MS = 30_000
REMEMBERED = 100_000


class Watches:
    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._until = Bounded[Partition, int](REMEMBERED)

    async def ensure(self, partition: Partition) -> bool:
        """True if the watch is new: then read the partition again for appends before it."""
        now = self._stores.clock.now_ms()
        if WATCH_MS - RENEW_MS < self._until.get(partition, 0) - now <= WATCH_MS:
            return False
        await self._stores.ledger.watch(partition, self._stores.wakeups.address, now + WATCH_MS)
        fresh = self._until.get(partition, 0) <= now
        self._until.keep(partition, now + WATCH_MS)
        return fresh
