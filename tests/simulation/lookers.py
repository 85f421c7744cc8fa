"""Those who look: readers that follow the log, and the last inspection."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from samsa.log.core import Log
from samsa.log.merge import RoundBudget
from samsa.log.read import OutOfRange, Plan
from samsa.log.retain import Retention
from samsa.log.stores import partition_prefix
from samsa.ports import Head, Missing, Partition, Piece
from samsa.ports.windows import WINDOWS

from .client import LATER, Client
from .process import Process

if TYPE_CHECKING:
    from .world import World


TIDYINGS = 5
LAST_STARTS = 8


async def fetch(
    log: Log, partition: Partition, offset: int, max_bytes: int, committed: bool = False
) -> tuple[Plan, Sequence[Piece]]:
    plan = await log.plan(partition, offset, max_bytes, committed)
    return plan, await log.load(plan.ranges)


class Reader(Client):
    """Follows the log and never sees it change."""

    committed = False

    def __init__(self, world: "World", name: str, partition: Partition) -> None:
        super().__init__(world, name)
        self._partition = partition
        self.offset = 0

    async def run(self) -> None:
        while not self.world.finished:
            await self.read_on(await self.world.pick(), self.world.rng.choice((1, 200, 10_000)))
            await self.think(1.0)

    async def read_on(self, process: Process, max_bytes: int) -> None:
        started = self.world.loop.time()
        work = fetch(process.log, self._partition, self.offset, max_bytes, self.committed)
        try:
            plan, pieces = await self.answer(process, self.world.spawn(work, OutOfRange, Missing))
        except LATER:
            return
        except OutOfRange as gone:
            self._log_moved(gone)
        except Missing:
            self._objects_gone(started)
        else:
            fits = len(plan.ranges) <= 1 or plan.size <= max_bytes
            self.world.require(fits, f"{self.name} asked for {max_bytes} and got {plan.size} bytes")
            if not self._too_slow(started, {wanted.key for wanted in plan.ranges}):
                self._took(plan, pieces)

    def _too_slow(self, started: float, keys: set[str]) -> bool:
        """The log has moved on, and the grace time for what was planned is over."""
        start = self.world.truth.shadows[self._partition].log_start
        named = {"", *self.world.keys(self._partition)}
        return (self.offset < start or not keys <= named) and self._grace_is_over(started)

    def _grace_is_over(self, started: float) -> bool:
        """By any clock: one process may have begun to count it, and another have ended."""
        took_ms = 1000 * (self.world.loop.time() - started)
        return took_ms + self.world.setting.skew_ms > self.world.setting.limits.sweep_grace_ms

    def _took(self, plan: Plan, pieces: Sequence[Piece]) -> None:
        read = self.world.truth.read
        self.offset = self.world.judged(lambda: read(self._partition, self.offset, plan, pieces))

    def _log_moved(self, gone: OutOfRange) -> None:
        self.world.paths["a reader found its offset gone"] += 1
        self.world.require(
            self.offset < gone.log_start,
            f"{self.name} at {self.offset} was told that {gone}",
        )
        self.offset = gone.log_start

    def _objects_gone(self, started: float) -> None:
        """It plans again."""
        self.world.paths["a reader found its objects gone"] += 1
        over = self._grace_is_over(started)
        self.world.require(over, f"{self.name} misses objects at {self.offset}")


class CommittedReader(Reader):
    """Reads what was committed, from any offset on. What holds it back for too long, it ends."""

    committed = True
    _waits_for: tuple[int, ...] = ()
    """Producers whose transactions held it back."""

    async def read_on(self, process: Process, max_bytes: int) -> None:
        head, rng = self.world.ledger.item(self._partition).head(), self.world.rng
        if rng.random() < 0.5:
            self.offset = rng.randint(head.log_start, head.next_offset)
        self._waits_for = ()
        await super().read_on(process, max_bytes)
        if self._waits_for:
            work = process.coordinator.settle(self._waits_for)
            with suppress(*LATER):
                await self.answer(process, self.world.spawn(work))

    def _took(self, plan: Plan, pieces: Sequence[Piece]) -> None:
        self._waits_for = tuple(plan.waits_for)
        read = self.world.truth.read_committed
        self.offset = self.world.judged(lambda: read(self._partition, self.offset, plan, pieces))
        self.world.paths["a reader of committed data was held back"] += bool(plan.waits_for)
        self.world.paths["a reader was told what was aborted"] += bool(plan.aborted)


class Inspector(Reader):
    """When all is over: every byte readable, all that was promised there, nothing in the tail."""

    async def run(self) -> None:
        process = await self.world.pick()
        head = await process.log.head(self._partition)
        self.offset = head.log_start
        while self.offset < head.next_offset:
            await self._next(process)
        complete = self.world.truth.complete
        self.world.judged(lambda: complete(self._partition, self.offset))
        if self.world.setting.transactional:
            await self._read_committed(process, head)
        await self._tidy(process)

    async def _read_committed(self, process: Process, head: Head) -> None:
        """From some offsets, up to the end: nothing is open any more."""
        there = range(head.log_start, head.next_offset)
        starts = self.world.rng.sample(there, min(len(there), LAST_STARTS))
        for start in starts:
            plan, pieces = await fetch(process.log, self._partition, start, 10**9, True)
            judge = self.world.truth.read_committed
            end = self.world.judged(lambda: judge(self._partition, start, plan, pieces))  # noqa: B023
            limited = len(plan.ranges) >= self.world.setting.limits.objects_per_read
            whole = end == head.next_offset or limited
            self.world.require(whole, f"committed data ends at {end}, not {head.next_offset}")

    async def _tidy(self, process: Process) -> None:
        """In the end nothing is left that no reader comes to."""
        limits = self.world.setting.limits
        await process.log._stores.journal.settle(self._partition)
        tail = self.world.ledger.item(self._partition).tail
        self.world.require(not tail, f"entries stay in the tail: {sorted(tail)}")
        for _ in range(TIDYINGS):
            await process.log.retainer.retain(self._partition, Retention())
            await process.log.merger.merge(self._partition, RoundBudget(10**9, 10**6))
            await process.log.sweeper.find_orphans(self._partition)
            await process.log.janitor.windows.sweep()
            longest = limits.sweep_grace_ms + limits.building_ms + limits.leave_window_ms
            longest += self.world.setting.skew_ms
            await asyncio.sleep(longest / 1000)
        named = self.world.keys(self._partition)
        prefix = partition_prefix(self._partition)
        left = [k for k in self.world.objects.held if k.startswith(prefix) and k not in named]
        self.world.require(not left, f"nothing leads to {left}")
        shared = [key for key in named if key.startswith(WINDOWS)]
        self.world.require(not shared, f"{shared} are kept for one partition")

    async def _next(self, process: Process) -> None:
        """Without any excuse: the sky is clear and everyone else has gone home."""
        before = self.offset
        self._took(*await fetch(process.log, self._partition, before, 1_000))
        self.world.require(self.offset > before, f"a reader does not get past {before}")
