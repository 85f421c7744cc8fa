"""The partitions of one fetch share the room that an answer has."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from faults.inside import TurnedClock, a_broker, ask
from server.talk import FETCH, PRODUCE, batch, fetch_row, produce_row

from samsa.data_path.reads import Room
from samsa.local.folder import FolderObjects
from samsa.local.sqlite import SqliteLedger
from samsa.log.extents import Range
from samsa.log.read import Plan
from samsa.wire.apis import ApiKey

TOPIC = "shared"
PARTITIONS = 3
APPENDS = 5
SIZE = len(batch(bytes(1_000)))
PARKED_MS = 60_000


class Site:
    """Three partitions, of five batches each."""

    def __init__(self, folder: Path) -> None:
        self.ledger = SqliteLedger(str(folder / "ledger.db"))
        self.objects = FolderObjects(str(folder / "objects"))
        self.broker = a_broker(self.ledger, self.objects, TurnedClock())

    async def fill(self) -> None:
        await self.broker.catalog.create(TOPIC, PARTITIONS, {})
        for number in range(PARTITIONS):
            for _ in range(APPENDS):
                row = produce_row(TOPIC, batch(bytes(1_000)), number)
                await ask(self.broker, ApiKey.PRODUCE, PRODUCE, row)

    async def fetch(self, room: int, **more: Any) -> list[int]:
        """How many batches came of each partition."""
        row = fetch_row(TOPIC, 0, range(PARTITIONS), **more)
        row.max_bytes = room
        answer = await ask(self.broker, ApiKey.FETCH, FETCH, row)
        found = answer.responses[0].partitions
        assert [one.high_watermark for one in found] == [APPENDS] * PARTITIONS
        assert [one.log_start_offset for one in found] == [0] * PARTITIONS
        return [sum(map(len, one.records)) // SIZE for one in found]


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    site = Site(tmp_path)
    await site.fill()
    yield site
    await site.objects.close()
    await site.ledger.close()


@pytest.mark.parametrize(
    ("room", "found"),
    [
        (0, [1, 0, 0]),
        (SIZE, [1, 0, 0]),
        (4 * SIZE, [4, 0, 0]),
        (5 * SIZE, [5, 0, 0]),
        (7 * SIZE, [5, 2, 0]),
        (8 * SIZE - 1, [5, 2, 0]),
        (11 * SIZE, [5, 5, 1]),
        (99 * SIZE, [5, 5, 5]),
    ],
)
async def test_each_gets_what_those_before_it_left(site: Site, room: int, found: list[int]):
    assert await site.fetch(room) == found


async def test_nothing_is_looked_up_that_there_is_no_room_for(site: Site):
    before = Counter(site.ledger.calls)
    assert await site.fetch(4 * SIZE) == [4, 0, 0]
    asked = Counter(site.ledger.calls) - before
    assert asked["head"] == PARTITIONS
    assert await site.fetch(99 * SIZE) == [5, 5, 5]
    all_of_them = Counter(site.ledger.calls) - before - asked
    assert all_of_them["extents"] == PARTITIONS * asked["extents"]


async def test_who_wants_more_than_fits_does_not_wait_for_it(site: Site):
    """Room for two and a half batches, and two and a half are wanted: two are all that can come."""
    wanted = SIZE * 5 // 2
    async with asyncio.timeout(5):
        found = await site.fetch(wanted, min_bytes=wanted, wait_ms=PARKED_MS)
    assert found == [2, 0, 0]


async def test_a_partition_s_own_limit_does_not_make_an_answer_full(site: Site):
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await site.fetch(99 * SIZE, max_bytes=SIZE, min_bytes=4 * SIZE, wait_ms=PARKED_MS)
    assert await site.fetch(99 * SIZE, max_bytes=SIZE, min_bytes=3 * SIZE) == [1, 1, 1]


def a_plan(size: int, end_offset: int) -> Plan:
    return Plan(0, APPENDS, [Range("key", 0, size, end_offset)])


def test_an_answer_that_is_full_stays_full_whoever_was_asked_at_the_same_time():
    """Far stores are asked for all partitions at once: those after one that was cut come too."""
    room = Room(10)
    room.take(a_plan(8, APPENDS - 1), asked_for=10)
    room.take(a_plan(1, APPENDS), asked_for=10)
    assert room.is_full
