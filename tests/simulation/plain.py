"""Producers without sequences: what is acknowledged is stored, and a retry may store it again."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from samsa.log.admit import Outcome
from samsa.log.layout import Batch
from samsa.ports import Partition

from .client import LATER, Client, sendable
from .process import Process

if TYPE_CHECKING:
    from .world import World


class PlainWriter(Client):
    """Sends bursts. What one burst gets acknowledged lies in the order it was sent."""

    def __init__(self, world: "World", name: str, partition: Partition, bursts: int) -> None:
        super().__init__(world, name)
        self._partition = partition
        self._bursts = bursts
        self._made = 0

    async def run(self) -> None:
        for _ in range(self._bursts):
            await self.think()
            left = self.world.rng.choice((1, 1, 2, 3))
            while left:
                left -= await self._burst(left)
                await self.think(0.1)

    async def _burst(self, size: int) -> int:
        """How many of them were acknowledged."""
        batches = [sendable(self._fresh()) for _ in range(size)]
        outcomes = await self.send(await self.world.pick(), self._partition, batches)
        last = -1
        for batch, outcome in zip(batches, outcomes, strict=True):
            if outcome is not None and outcome.refusal is None:
                self.world.require(outcome.offset > last, f"{self.name}: order was not kept")
                last = outcome.offset
                self.acknowledged(batch, last)
        return sum(o is not None and o.refusal is None for o in outcomes)

    def acknowledged(self, batch: Batch, offset: int) -> None:
        self.world.note(self.name, "is told", offset)
        self.world.acknowledged(self._partition, offset, batch.header)

    def _fresh(self) -> bytes:
        self._made += 1
        label, count = f"{self.name}/{self._made}", self.world.rng.choice((1, 1, 2, 3))
        return self.world.rules.batch_of(label, count)

    async def send(
        self, process: Process, partition: Partition, batches: Sequence[Batch]
    ) -> list[Outcome | None]:
        raise NotImplementedError


class GroupedWriter(PlainWriter):
    """Through the partition's writer, as in a process that lives."""

    async def send(
        self, process: Process, partition: Partition, batches: Sequence[Batch]
    ) -> list[Outcome | None]:
        futures = [process.log.append(partition, batch) for batch in batches]
        for future in futures:
            self.world.watch(future)
        return [await self._outcome(process, future) for future in futures]

    async def _outcome(self, process: Process, future: "asyncio.Future[Outcome]") -> Outcome | None:
        try:
            outcome: Outcome = await self.answer(process, future)
        except LATER:
            return None
        return outcome


class SingleWriter(PlainWriter):
    """One commit per request, as in a function that lives no longer than it."""

    async def send(
        self, process: Process, partition: Partition, batches: Sequence[Batch]
    ) -> list[Outcome | None]:
        task = self.world.spawn(process.log.append_once(partition, batches))
        try:
            outcomes: list[Outcome | None] = await self.answer(process, task)
        except LATER:
            return [None] * len(batches)
        return outcomes
