"""A request that arrives after its sender gave up, and asked again with success."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import uuid4

import pytest
from faults.proxy import FaultyProxy, faulty_proxy
from faults.weather import Card, Fault, Weather
from functional.given import DAY_MS, a_partition
from functional.journals import a_journal, bytes_of, extents_of, put
from server.talk import NOW
from support.waiting import eventually

from samsa.aws.client import Patience
from samsa.aws.dynamodb import DynamoLedger
from samsa.local.memory import MemoryObjects
from samsa.ports import Bound, Claim, Partition, Unavailable

GIVES_UP_S = 3.0
SMALL, LARGE = b"s" * 200, b"L" * 5_000
pytestmark = pytest.mark.waits


def a_claim(producer_id: int, state: bytes = b"state", after: int = 0) -> Claim:
    """Which does not expire meanwhile: DynamoDB would delete its item."""
    return Claim(producer_id, state, after, NOW + 7 * DAY_MS)


class OneLate(Weather):
    """`next_is_late`: the next request. All others pass."""

    def __init__(self) -> None:
        super().__init__("", {})
        self.next_is_late = False

    def draw(self) -> Card:
        late, self.next_is_late = self.next_is_late, False
        return Card(Fault.LATE) if late else Card(Fault.NONE)


class Site:
    """A partition, and a process whose requests may be late."""

    def __init__(self, ledger: DynamoLedger, proxy: FaultyProxy, partition: Partition) -> None:
        self.ledger, self.partition = ledger, partition
        self.objects = MemoryObjects()
        self.journal = a_journal(ledger, self.objects)
        self._proxy = proxy

    def delay_the_next(self) -> None:
        """Until `refused`."""
        self._proxy.weather.next_is_late = self._proxy.holds_late = True

    async def is_on_its_way(self) -> None:
        await asyncio.to_thread(eventually, lambda: not self._proxy.weather.next_is_late)

    async def put(self, data: bytes, *claims: Claim) -> int:
        base = (await put(self.journal, self.partition, data, claims)).base
        assert base is not None
        await self.journal.drain()  # so that settling is not the next request
        return base

    async def refused(self) -> bool:
        """The late request arrives now: whether it changed nothing."""
        self._proxy.holds_late = False
        (answer,) = await asyncio.to_thread(eventually, lambda: self._proxy.late)
        return b"ConditionalCheckFailedException" in answer.body

    async def contents(self) -> list[bytes]:
        found = await extents_of(self.ledger, self.partition)
        return [await bytes_of(extent, self.objects) for extent in found]


@pytest.fixture
def proxy(local_dynamodb: str) -> Iterator[FaultyProxy]:
    with faulty_proxy(local_dynamodb, OneLate()) as proxy:
        yield proxy


@pytest.fixture
async def site(proxy: FaultyProxy, local_dynamodb: str) -> AsyncIterator[Site]:
    patience = Patience(read_s=GIVES_UP_S, tries=1)
    ledger = DynamoLedger(f"late-{uuid4()}", proxy.url, patience=patience)
    await make_table(ledger.table.name, local_dynamodb)
    site = Site(ledger, proxy, await a_partition(ledger))
    await site.put(b"before")
    yield site
    await site.journal.close()
    await ledger.close()


async def make_table(name: str, endpoint: str) -> None:
    """With all the time that it takes."""
    ledger = DynamoLedger(name, endpoint)
    await ledger.create_table()
    await ledger.close()


@pytest.mark.parametrize("data", [SMALL, LARGE])
@pytest.mark.parametrize("claims", [(), (a_claim(1),)])
async def test_a_commit_that_is_late_is_not_stored_a_second_time(
    site: Site, data: bytes, claims: tuple[Any, ...]
):
    await site.journal.producer(site.partition, 1)  # so that the commit is the next request
    site.delay_the_next()
    assert await site.put(data, *claims) == 1
    assert await site.refused()
    assert await site.contents() == [b"before", data]
    assert await site.put(b"after") == 2


@pytest.mark.parametrize("data", [SMALL, LARGE])
async def test_nor_if_the_head_has_forgotten_the_first_time(site: Site, data: bytes):
    """Its entry has left the tail: only the sweep that was counted tells."""
    site.delay_the_next()
    assert await site.put(data) == 1
    await site.journal.settle(site.partition)
    assert (await site.ledger.head(site.partition)).tail == ()
    assert await site.refused()
    assert await site.contents() == [b"before", data]


async def test_a_commit_that_is_late_after_others_appended_is_not_stored_behind_them(site: Site):
    other = a_journal(site.ledger)
    site.delay_the_next()
    appending = asyncio.create_task(site.put(SMALL))
    await site.is_on_its_way()
    assert (await put(other, site.partition, b"other")).base == 1
    assert await appending == 2
    assert await site.refused()
    assert await site.contents() == [b"before", b"other", SMALL]


async def test_a_late_eviction_leaves_a_producer_that_came_back(site: Site):
    ledger, partition = site.ledger, site.partition
    await site.put(SMALL, a_claim(1, b"old"))
    old = (await ledger.head_state(partition)).producers[1]
    await ledger.store_producer(partition, 1, old)
    site.delay_the_next()
    with pytest.raises(Unavailable):
        await ledger.evict(partition, {1: old})
    await site.put(SMALL, a_claim(1, b"new", after=1))
    assert await site.refused()
    assert await site.journal.producer(partition, 1) == Bound(2, b"new", 2)


async def test_a_late_write_of_an_evicted_state_does_not_replace_a_newer_one(site: Site):
    ledger, partition = site.ledger, site.partition
    await site.put(SMALL, a_claim(1, b"old"))
    old = (await ledger.head_state(partition)).producers[1]
    site.delay_the_next()
    with pytest.raises(Unavailable):
        await ledger.store_producer(partition, 1, old)
    await site.put(SMALL, a_claim(1, b"new", after=1))
    new = (await ledger.head_state(partition)).producers[1]
    await ledger.store_producer(partition, 1, new)
    await ledger.evict(partition, {1: new})
    assert await site.refused()
    assert await site.journal.producer(partition, 1) == Bound(2, b"new", 2)
