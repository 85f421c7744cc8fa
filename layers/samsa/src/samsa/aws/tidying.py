"""Keeping heads small: entries go to the index, and producers that rest to items of their own.

DynamoDB bills every commit by the size of its head. So an entry is settled as soon as it is
committed, by the process that did so, in the background. The next commit of that process takes it
out of the head, so that no update is made only for that; unless others commit meanwhile, who would
pay for it each time. What a process left behind that is gone, others settle after a while. A tail
that grows faster makes commits wait.

All of it can be done by any process, at any time, more than once.
"""

import asyncio
import logging
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any

from samsa.aws.known_heads import KnownHead, KnownHeads, is_longer
from samsa.ports import Clock, Extent, Partition, Unavailable, UnknownPartition
from samsa.ports.bounds import (
    FEW_PRODUCERS,
    IDLE_PRODUCER_MS,
    LONG_TAIL_BYTES,
    LONG_TAIL_ENTRIES,
    MOST_PRODUCERS,
    SETTLE_OTHERS_MS,
)
from samsa.ports.heads import MOST_REMOVED, HeadProducer, HeadState, HeadStore

log = logging.getLogger("samsa.aws")


class Tidier:
    def __init__(self, heads: HeadStore, known: KnownHeads, clock: Clock) -> None:
        self._heads = heads
        self._known = known
        self._clock = clock
        self._settling: dict[Partition, asyncio.Task[None]] = {}
        self._evicting: dict[Partition, asyncio.Task[None]] = {}

    def begin_settling(self, partition: Partition, known: KnownHead) -> None:
        if partition not in self._settling:
            ripe = [entry for entry in known.unsettled() if self._is_ripe(known, entry)]
            if ripe:
                self._start(self._settling, partition, self._settle(partition, known, ripe))

    def begin_evicting(self, partition: Partition, known: KnownHead) -> None:
        """After a commit: whoever made it does not rest."""
        if partition not in self._evicting and (crowd := self._crowd(known.state)):
            self._start(self._evicting, partition, self._evict(partition, known, crowd))

    def _is_ripe(self, known: KnownHead, entry: Extent) -> bool:
        age = self._clock.now_ms() - entry.stored_at
        return entry.id in known.own or abs(age) > SETTLE_OTHERS_MS

    async def _settle(self, partition: Partition, known: KnownHead, ripe: Sequence[Extent]) -> None:
        await self._index(partition, known, ripe)
        settled = known.to_take_out(known.state)
        if settled and known.is_crowded():
            known.learn(await self._heads.take_out(partition, settled))

    async def make_room(self, partition: Partition, known: KnownHead) -> None:
        """Before a commit: wait while the tail is too long."""
        for _ in range(2):  # what is under way may be about a few of its entries only
            if not self._is_long(known):
                return
            if partition not in self._settling:
                self._start(self._settling, partition, self.settle(partition))
            await asyncio.wait([self._settling[partition]])

    @staticmethod
    def _is_long(known: KnownHead) -> bool:
        return is_longer(known.unsettled(), LONG_TAIL_ENTRIES, LONG_TAIL_BYTES)

    async def settle(self, partition: Partition) -> None:
        """All entries, out of the head at once."""
        known = self._known.learn(partition, await self._heads.head_state(partition))
        tail = known.state.head.tail
        for start in range(0, len(tail), MOST_REMOVED):
            some = tail[start : start + MOST_REMOVED]
            await self._index(partition, known, await self._not_indexed(partition, some))
            settled = {entry.id: entry.base for entry in some}
            known.learn(await self._heads.take_out(partition, settled))

    async def _not_indexed(self, partition: Partition, some: Sequence[Extent]) -> list[Extent]:
        """Others settle too: to look costs less than to write once more."""
        found = await self._heads.extents(partition, some[0].base, 2 * len(some))
        there = {(extent.id, extent.base) for extent in found}
        return [entry for entry in some if (entry.id, entry.base) not in there]

    async def _index(self, partition: Partition, known: KnownHead, some: Iterable[Extent]) -> None:
        async def index(entry: Extent) -> None:
            await self._heads.index(partition, entry)
            known.settled[entry.id] = entry.base

        await _all(map(index, some))

    def _crowd(self, state: HeadState) -> dict[int, HeadProducer]:
        """Producers that are to leave: those that pause, if there are many, and the oldest of very
        many. Several at a time, because each eviction is an update of the whole head."""
        count = len(state.producers)
        if count <= FEW_PRODUCERS:
            return {}
        now = self._clock.now_ms()
        oldest = sorted(state.producers.items(), key=lambda item: item[1].used_at)
        return {
            producer_id: producer
            for producer_id, producer in oldest[:MOST_REMOVED]
            if count > MOST_PRODUCERS or abs(now - producer.used_at) > IDLE_PRODUCER_MS
        }

    async def _evict(
        self, partition: Partition, known: KnownHead, crowd: dict[int, HeadProducer]
    ) -> None:
        """If one of them comes back meanwhile, all stay until the next commit looks again."""
        await _all(self._heads.store_producer(partition, *one) for one in crowd.items())
        known.learn(await self._heads.evict(partition, crowd))

    def _start(
        self,
        tasks: dict[Partition, asyncio.Task[None]],
        partition: Partition,
        work: Coroutine[Any, Any, None],
    ) -> None:
        async def run() -> None:
            try:
                await work
            except (Unavailable, UnknownPartition) as error:
                log.info("%s: put off: %s", partition, error)
            except Exception:
                log.exception("%s: keeping its head small failed", partition)
            finally:
                del tasks[partition]

        tasks[partition] = asyncio.get_running_loop().create_task(run())

    async def drain(self) -> None:
        while tasks := [*self._settling.values(), *self._evicting.values()]:
            await asyncio.wait(tasks)


async def _all(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Wait for all of it, whatever fails; then raise the first failure."""
    for failure in await asyncio.gather(*work, return_exceptions=True):
        if failure is not None:
            raise failure
