"""Readers, while a slot stays open because the objects' store is down."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from faults.inside import TurnedClock, a_broker, ask
from server.talk import FETCH, LATEST, LIST_OFFSETS, PRODUCE, batch, fetch_row, produce_row

from samsa.handlers.broker import Broker
from samsa.local.memory import MemoryObjects
from samsa.local.sqlite import SqliteLedger
from samsa.ports import Buffer, Partition
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import list_offsets

TOPIC = "stuck"
CLOSING_MS = 50


class Stalled(MemoryObjects):
    """Reads as ever; a put comes back only while it `is_up`."""

    def __init__(self) -> None:
        super().__init__()
        self.is_up = asyncio.Event()
        self.is_up.set()

    async def put_if_absent(self, key: str, parts: Sequence[Buffer]) -> bool:
        await self.is_up.wait()
        return await super().put_if_absent(key, parts)


class Stuck:
    """A partition with a record, and behind it a slot that was reserved and never written."""

    def __init__(self, broker: Broker, objects: Stalled, clock: TurnedClock) -> None:
        self.broker, self.objects, self.clock = broker, objects, clock

    async def begin(self) -> None:
        topic = await self.broker.catalog.create(TOPIC, 1, {})
        assert await self.produce() == 0
        token = f"1.{self.clock.now_ms()}.someone"
        await self.broker.stores.ledger.reserve(Partition(topic.id, 0), token, 1)

    async def produce(self) -> int:
        row = produce_row(TOPIC, batch(b"value"))
        answer = await ask(self.broker, ApiKey.PRODUCE, PRODUCE, row)
        return int(answer.responses[0].partition_responses[0].base_offset)

    async def fetch(self, offset: int) -> tuple[int, int]:
        """The error and the visible end."""
        row = fetch_row(TOPIC, offset)
        answer = await asyncio.wait_for(ask(self.broker, ApiKey.FETCH, FETCH, row), 5)
        (one,) = answer.responses[0].partitions
        return one.error_code, one.high_watermark

    async def end(self) -> int:
        asked = list_offsets.PARTITION(partition_index=0, timestamp=LATEST)
        row = list_offsets.REQUEST(topics=[list_offsets.TOPIC(name=TOPIC, partitions=[asked])])
        answer = await asyncio.wait_for(ask(self.broker, ApiKey.LIST_OFFSETS, LIST_OFFSETS, row), 5)
        return int(answer.topics[0].partitions[0].offset)


@pytest.fixture
async def stuck(tmp_path: Path) -> AsyncIterator[Stuck]:
    ledger, objects, clock = SqliteLedger(str(tmp_path / "ledger.db")), Stalled(), TurnedClock()
    stuck = Stuck(a_broker(ledger, objects, clock, closing_ms=CLOSING_MS), objects, clock)
    await stuck.begin()
    yield stuck
    objects.is_up.set()
    await stuck.broker.log.drain()
    await ledger.close()


async def test_what_was_acknowledged_behind_an_open_slot_is_not_out_of_range(stuck: Stuck):
    assert await stuck.produce() == 2
    assert await stuck.fetch(2) == (ErrorCode.NONE, 1)
    assert await stuck.fetch(3) == (ErrorCode.NONE, 1)
    assert await stuck.fetch(4) == (ErrorCode.OFFSET_OUT_OF_RANGE, 1)


async def test_a_reader_does_without_a_slot_that_nobody_can_close(stuck: Stuck):
    stuck.objects.is_up.clear()
    stuck.clock.turn(60_000)
    assert await stuck.fetch(0) == (ErrorCode.NONE, 1)
    assert await stuck.end() == 1


async def test_a_stale_slot_is_closed_by_the_reader_who_meets_it(stuck: Stuck):
    stuck.clock.turn(60_000)
    assert await stuck.fetch(0) == (ErrorCode.NONE, 2)
