"""Polls the heads that requests wait for, because an append may come without a wake-up.

Functions, Spark and processes that cannot reach this one append to the same partitions and send it
no datagram. So once a second this reads the heads of partitions that a request has waited for since
the previous second. A request that waits for less than that (clients' default is 500 ms) costs
nothing here. If there are more than `MOST_A_ROUND` partitions, they take turns.
"""

import asyncio
import logging
from collections.abc import Callable

from samsa.local.wakeups import LocalWakeups, Waiter
from samsa.ports import Ledger, Partition, Unavailable, UnknownPartition

log = logging.getLogger("samsa.server")
EVERY_S = 1.0
MOST_A_ROUND = 500
AT_ONCE = 16


class Watching:
    def __init__(
        self, ledger: Ledger, wakeups: LocalWakeups, shared: Callable[[], bool] = lambda: True
    ) -> None:
        """`shared`: whether other processes may append at all."""
        self._ledger = ledger
        self._wakeups = wakeups
        self._shared = shared
        self._waiters: dict[Partition, set[Waiter]] = {}
        """As they were one round before."""
        self._ends: dict[Partition, int] = {}
        self._turn = 0

    async def run(self) -> None:
        while True:
            await asyncio.sleep(EVERY_S)
            try:
                await self.look()
            except Exception:
                log.exception("looking at watched heads failed")

    async def look(self) -> None:
        before, self._waiters = self._waiters, self._waiting()
        long = [p for p in self._waiters if not before.get(p, set()).isdisjoint(self._waiters[p])]
        self._ends = {p: end for p, end in self._ends.items() if p in self._waiters}
        if len(long) > MOST_A_ROUND:
            self._turn = (self._turn + MOST_A_ROUND) % len(long)
            long = (long[self._turn :] + long[: self._turn])[:MOST_A_ROUND]
        for start in range(0, len(long), AT_ONCE):
            await asyncio.gather(*map(self._look_at, long[start : start + AT_ONCE]))

    def _waiting(self) -> dict[Partition, set[Waiter]]:
        if not self._shared():
            return {}
        waiting = self._wakeups.waiting.items()
        return {p: set(waiters) for p, waiters in waiting if isinstance(p, Partition)}

    async def _look_at(self, partition: Partition) -> None:
        try:
            end = (await self._ledger.head(partition)).next_offset
        except UnknownPartition:
            end = -1
        except Unavailable:
            return
        # The first time, it is not known whether there was an append before: it counts as new.
        if self._ends.get(partition) != end:
            self._ends[partition] = end
            self._wakeups.wake_here(partition)
