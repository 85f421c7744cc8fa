"""Keep heads small: settle entries to the index, evict idle producers to items of their own.

DynamoDB bills every commit by the size of its head. So the process that committed an entry settles
it right after the commit, in the background. The next commit of that process takes the entry out of
the head, which needs no extra update. If other processes crowd the head, each of their commits pays
for the entry, so it is taken out at once (`Settling` has the choices). Entries of a process that is
gone are settled by other processes after a while. Back-pressure: while the tail is too long,
commits wait for settling.

All of this is idempotent: any process may do it, at any time, more than once.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from enum import Enum
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
FOR_EVER_MS = 1 << 48
"""A time some thousand years ahead."""


class Settling(Enum):
    """When a committed entry goes to the index, and when it leaves the head."""

    AFTERWARDS = "in the background, after its commit; it leaves with the next commit"
    BESIDE = "beside the next commit; it leaves with the one after that"
    """The head is larger. But a function must wait for all calls that it began, and this way it
    waits for the time of one call only. If others crowd the head, it works as AT_ONCE."""
    AT_ONCE = "after its commit; it leaves by an update of its own"
    """A function waits for two more calls. But the next commit, of whichever function, finds the
    head as small as possible."""


class Tidier:
    def __init__(self, heads: HeadStore, known: KnownHeads, clock: Clock) -> None:
        self._heads = heads
        self._known = known
        self._clock = clock
        self._settling: dict[Partition, asyncio.Task[None]] = {}
        self._evicting: dict[Partition, asyncio.Task[None]] = {}

    def begin_settling(
        self, partition: Partition, known: KnownHead, take_out: bool = False
    ) -> None:
        """`take_out`: take the entries out by a separate update, not with the next commit."""
        if partition not in self._settling and (ripe := self._ripe(known)):
            work = self._settle(partition, known, ripe, take_out)
            self._start(self._settling, partition, work)

    def begin_evicting(self, partition: Partition, known: KnownHead) -> None:
        """Call it after a commit: then the producers of that commit do not count as idle."""
        if partition not in self._evicting and (crowd := self._crowd(known.state)):
            self._start(self._evicting, partition, self._evict(partition, known, crowd))

    def _ripe(self, known: KnownHead) -> list[Extent]:
        """The entries that this process settles: its own, and old ones. Other processes are
        expected to settle their recent entries themselves."""
        now = self._clock.now_ms()
        return [
            entry
            for entry in known.unsettled()
            if entry.id in known.own or abs(now - entry.stored_at) > SETTLE_OTHERS_MS
        ]

    async def _settle(
        self, partition: Partition, known: KnownHead, ripe: Sequence[Extent], take_out: bool
    ) -> None:
        await self._index(partition, known, ripe)
        settled = known.to_take_out(known.state)
        if settled and (take_out or known.is_crowded()):
            known.learn(await self._heads.take_out(partition, settled))

    async def make_room(self, partition: Partition, known: KnownHead) -> None:
        """Before a commit: wait while the tail has too many entries that this process settles."""
        for _ in range(2):  # twice: the task under way may settle only a few of the entries
            if not is_longer(self._ripe(known), LONG_TAIL_ENTRIES, LONG_TAIL_BYTES):
                return
            if partition not in self._settling:
                self._start(self._settling, partition, self.settle(partition, self._ripe))
            await asyncio.wait([self._settling[partition]])

    async def settle(
        self, partition: Partition, which: Callable[[KnownHead], Sequence[Extent]] | None = None
    ) -> None:
        """Settle all entries of the tail, or those that `which` returns; take them out at once."""
        known = self._known.learn(partition, await self._heads.head_state(partition))
        tail = which(known) if which else known.state.head.tail
        for start in range(0, len(tail), MOST_REMOVED):
            some = tail[start : start + MOST_REMOVED]
            await self._index(partition, known, await self._not_indexed(partition, some))
            settled = {entry.id: entry.base for entry in some}
            known.learn(await self._heads.take_out(partition, settled))

    async def _not_indexed(self, partition: Partition, some: Sequence[Extent]) -> list[Extent]:
        """The entries that no other process has settled: a read costs less than a second write."""
        found = await self._heads.extents(partition, some[0].base, 2 * len(some))
        there = {(extent.id, extent.base) for extent in found}
        return [entry for entry in some if (entry.id, entry.base) not in there]

    async def _index(self, partition: Partition, known: KnownHead, some: Iterable[Extent]) -> None:
        """An entry that has left the head since may be a marker too: then the process that took it
        out has stored what it aborted."""
        aborted = {one.marker: one for one in known.state.head.aborted}

        async def index(entry: Extent) -> None:
            # Before its extent: `_not_indexed` spares what is in the index.
            if entry.base in aborted:
                await self._heads.store_aborted(partition, aborted[entry.base])
            await self._heads.index(partition, entry)
            known.settled[entry.id] = entry.base

        await _all(map(index, some))

    def _crowd(self, state: HeadState) -> dict[int, HeadProducer]:
        """The producers to evict: idle ones if there are many producers, the oldest ones if there
        are very many. Several at a time, because each eviction is an update of the whole head."""
        count = len(state.producers)
        if count <= FEW_PRODUCERS:
            return {}
        now, opened = self._clock.now_ms(), state.head.open_transactions
        oldest = sorted(state.producers.items(), key=lambda item: item[1].used_at)
        return {
            producer_id: _lasting(producer) if producer_id in opened else producer
            for producer_id, producer in oldest[:MOST_REMOVED]
            if count > MOST_PRODUCERS or abs(now - producer.used_at) > IDLE_PRODUCER_MS
        }

    async def _evict(
        self, partition: Partition, known: KnownHead, crowd: dict[int, HeadProducer]
    ) -> None:
        """If one of them commits meanwhile, all stay in the head until the next commit's try."""
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


def _lasting(producer: HeadProducer) -> HeadProducer:
    """While its transaction is open, a producer does not expire. It comes back to the head with the
    marker, and gets its time then."""
    return producer._replace(expires_at=FOR_EVER_MS)


async def _all(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Wait for all of it, even if some fail; then raise the first failure."""
    for failure in await asyncio.gather(*work, return_exceptions=True):
        if failure is not None:
            raise failure
