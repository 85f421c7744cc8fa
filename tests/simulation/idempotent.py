"""An idempotent producer that behaves as Kafka's clients do.

Up to five batches are in flight, in order. Whatever failed is sent again with the same sequence, in
order, perhaps to another process, while the first may still be at work on it. Some lose patience at
times, and take a new epoch: then what was in doubt comes again, as another batch.
"""

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from samsa.log.admit import Outcome, Refusal
from samsa.ports import Partition, Unavailable
from samsa.records import BatchHeader, read_header

from .client import Client, Gone, sendable
from .process import Process

if TYPE_CHECKING:
    from .world import World

IN_FLIGHT = 5


@dataclass
class Item:
    number: int
    records: int
    data: bytes = b""
    acked: bool = False

    @property
    def header(self) -> BatchHeader:
        return read_header(self.data)


InFlight = deque[tuple[Item, "asyncio.Future[Outcome]"]]


class IdempotentProducer(Client):
    def __init__(
        self, world: "World", producer_id: int, partition: Partition, batches: int
    ) -> None:
        super().__init__(world, f"producer {producer_id}")
        self._id = producer_id
        self._partition = partition
        self._epoch = 0
        self._impatient = world.rng.choice((0.0, 0.0, 0.1))
        self._hesitates = world.rng.choice((0.1, 0.3, 0.9))
        self._offsets: dict[int, int] = {}
        self._items = deque(Item(n, world.rng.choice((1, 1, 2, 3))) for n in range(batches))
        self._number()

    def _number(self) -> None:
        """Give what is left its sequences, from 0 on."""
        sequence = 0
        for item in self._items:
            item.data = self.world.rules.batch_of(
                f"{self._id}/{item.number}",
                item.records,
                producer_id=self._id,
                producer_epoch=self._epoch,
                base_sequence=sequence,
            )
            sequence += item.records

    async def run(self) -> None:
        process = await self.world.pick()
        while self._items:
            with suppress(Gone):
                await self._connection(process)
            if self._items and self.world.rng.random() < self._impatient:
                self._take_new_epoch()
            await self.think(0.2)
            if not process.alive or self.world.rng.random() < 0.5:
                process = await self.world.pick()

    async def _connection(self, process: Process) -> None:
        """Until something fails: then nothing more is sent, and what is in flight is heard."""
        in_flight: InFlight = deque()
        failed = False
        while self._items:
            if not failed:
                await self._fill(process, in_flight)
            if not in_flight:
                return
            failed |= not await self._settle(process, *in_flight.popleft())

    async def _fill(self, process: Process, in_flight: InFlight) -> None:
        """Never a batch more than five after one that is not acknowledged."""
        sent = in_flight[-1][0].number if in_flight else -1
        for item in list(islice(self._items, IN_FLIGHT)):
            if item.number > sent and not item.acked:
                if self.world.rng.random() < self._hesitates:
                    await self.think()
                future = process.log.append(self._partition, sendable(item.data))
                self.world.watch(future)
                in_flight.append((item, future))

    async def _settle(
        self, process: Process, item: Item, future: "asyncio.Future[Outcome]"
    ) -> bool:
        try:
            outcome: Outcome = await self.answer(process, future)
        except Unavailable:
            return False
        self.world.note(self.name, "hears of", item.number, outcome)
        if outcome.refusal is None:
            self._acknowledged(item, outcome.offset)
            return True
        if item is self._items[0]:
            self._first_refused(outcome.refusal)
        return False

    def _acknowledged(self, item: Item, offset: int) -> None:
        item.acked = True
        self.world.acknowledged(self._partition, offset, item.header)
        self._offsets[item.number] = offset
        in_order = [self._offsets[number] for number in sorted(self._offsets)]
        self.world.require(in_order == sorted(in_order), f"{self.name}: order was not kept")
        while self._items and self._items[0].acked:
            self._items.popleft()

    def _first_refused(self, why: Refusal) -> None:
        """All before it is acknowledged, so it is in order; and nothing is ever forgotten."""
        self.world.require(why is Refusal.TRY_AGAIN, f"{self.name}: its first batch is {why.value}")

    def _take_new_epoch(self) -> None:
        self.world.paths["a producer took a new epoch"] += 1
        self._offsets.clear()  # what was in doubt may have been stored, and comes again
        self._epoch += 1
        self._items = deque(item for item in self._items if not item.acked)
        self._number()
