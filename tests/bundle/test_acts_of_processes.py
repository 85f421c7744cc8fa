"""The same for `samsa up` on DynamoDB and S3: what `samsa cost` counts, a broker asks for."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from bundle.meter import Meter
from faults.inside import TurnedClock, a_broker, ask, nonce
from server.talk import FETCH, PRODUCE, batch, fetch_row, produce_row
from support.stores import BUCKET
from support.waiting import eventually

from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.dynamodb_groups import DynamoGroups
from samsa.aws.journal import HeadJournal
from samsa.aws.s3 import S3Objects
from samsa.broker.broker import Broker, Rules
from samsa.log.cache import TailCache
from samsa.ports import Partition
from samsa.ports.bounds import INLINE_BYTES
from samsa.runtime.upkeep import tend
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import heartbeat, join_group, offset_commit, sync_group
from samsa_broker.cost.acts import (
    OBJECT,
    SETTLED,
    SWEEP_OF_A_PARTITION,
    SWEPT_WINDOW,
    Act,
    ProcessActs,
)
from samsa_broker.cost.of_processes import ANNOUNCED_EVERY_S
from samsa_broker.server.announced_address import AnnouncedAddress
from samsa_broker.server.announcing import Announcer
from samsa_broker.server.roster import RENEW_S

TOPIC, GROUP, PARTITIONS = "costs", "family", 3
WAIT_MS, SHORT_WAIT_MS = 20_000, 500
SESSION_MS = 45_000
FIVE_MINUTES_MS = 300_000
NOTHING = Act()
LARGE = bytes(INLINE_BYTES)
"""With its header it is too large for a head, and so becomes an object."""


class Site:
    """A process, or several, on the same stores."""

    def __init__(self, ledger: DynamoLedger, s3: S3Objects) -> None:
        self.clock = TurnedClock()
        self.meter = Meter()
        self.ledger = ledger
        self.s3 = s3
        self.meter.stores(ledger.table, s3)
        self.broker = self.another()

    def another(self) -> Broker:
        groups = DynamoGroups(self.ledger.table)
        return a_broker(self.ledger, TailCache(self.s3, 1 << 20), self.clock, groups)

    def with_window(self) -> Broker:
        plain = self.another().stores
        journal = HeadJournal(self.ledger, plain.objects, nonce, self.clock, has_window=True)
        limits = replace(plain.limits, window_ms=100)
        return Broker(replace(plain, journal=journal, limits=limits), "cluster", Rules())

    async def cost(self, *work: Awaitable[object]) -> Act:
        """With what is done in the background, but not what is left of that before it."""
        await self.broker.background_done()
        with self.meter.measuring() as spent:
            await asyncio.gather(*work)
            await self.broker.background_done()
        return spent.act

    async def produce(
        self, value: bytes = b"value", partition: int = 0, by: Broker | None = None, **more: Any
    ) -> int:
        row = produce_row(TOPIC, batch(value, **more), partition)
        answer = await ask(by or self.broker, ApiKey.PRODUCE, PRODUCE, row)
        (one,) = answer.responses[0].partition_responses
        assert one.error_code == ErrorCode.NONE, one
        return int(one.base_offset)

    async def fetch(self, partitions: int, wait_ms: int = 0) -> Any:
        """From the end of each."""
        topic = await self.ledger.topic(TOPIC)
        assert topic
        row = fetch_row(TOPIC, 0, tuple(range(partitions)), wait_ms=wait_ms)
        for entry in row.topics[0].partitions:
            head = await self.ledger.head(Partition(topic.id, entry.partition))
            entry.fetch_offset = head.next_offset
        return row

    async def ask(self, row: Any) -> bool:
        """Whether it got something."""
        answer = await ask(self.broker, ApiKey.FETCH, FETCH, row)
        return any(p.records for p in answer.responses[0].partitions)

    async def begin(self, row: Any) -> "asyncio.Task[bool]":
        """A fetch that waits."""
        looked = self.ledger.requests["GetItem"] + len(row.topics[0].partitions)
        waiting = asyncio.create_task(self.ask(row))
        await asyncio.to_thread(eventually, lambda: self.ledger.requests["GetItem"] >= looked)
        await asyncio.sleep(0.1)
        return waiting


@pytest.fixture
async def site(stores: tuple[str, str]) -> AsyncIterator[Site]:
    dynamodb, s3 = stores
    name = f"acts-{uuid4()}"
    ledger = DynamoLedger(name, dynamodb, "us-east-1")
    await ledger.create_table()
    site = Site(ledger, S3Objects(BUCKET, name, s3, "us-east-1"))
    await site.broker.catalog.create(TOPIC, PARTITIONS, {})
    for partition in range(PARTITIONS):
        await site.produce(partition=partition)
    await site.broker.background_done()
    yield site
    await ledger.close()


def numbered(sequence: int) -> dict[str, int]:
    return {"producer_id": 7, "producer_epoch": 0, "base_sequence": sequence}


async def test_an_announcement(site: Site):
    place = AnnouncedAddress("10.0.0.1", 9092, "")
    announcer = Announcer(site.broker, place, "eu-central-1a", is_remote=True)
    await announcer.look()
    assert await site.cost(announcer.look()) == ProcessActs.ANNOUNCE
    assert RENEW_S == ANNOUNCED_EVERY_S


@pytest.mark.parametrize(("value", "more"), [(b"value", NOTHING), (LARGE, OBJECT)])
async def test_an_append_of_any_producer(site: Site, value: bytes, more: Act):
    said = ProcessActs.APPEND.plus(SETTLED).plus(more)
    assert await site.cost(site.produce(value)) == said
    await site.produce(**numbered(0))
    assert await site.cost(site.produce(value, **numbered(1))) == said


async def test_appends_that_come_while_another_is_committed_share_the_next_commit(site: Site):
    await site.produce(**numbered(0))
    count = 12
    spent = await site.cost(*(site.produce(**numbered(n)) for n in range(1, 1 + count)))
    assert spent.head_writes < count
    assert spent == ProcessActs.APPEND.plus(SETTLED).times(spent.head_writes)


async def test_what_is_too_large_for_heads_shares_a_put_whatever_its_partition(site: Site):
    spent = await site.cost(*(site.produce(LARGE, partition=n) for n in range(PARTITIONS)))
    assert spent == ProcessActs.APPEND.plus(SETTLED).times(PARTITIONS).plus(OBJECT)


@pytest.mark.parametrize(("size", "puts"), [(500, 0), (INLINE_BYTES // PARTITIONS, 1)])
async def test_in_a_window_each_partition_has_one_commit_and_all_share_one_put_unless_all_are_small(
    site: Site, size: int, puts: int
):
    windowed = site.with_window()
    for partition in range(PARTITIONS):
        await site.produce(partition=partition, by=windowed)
    await windowed.background_done()
    value = bytes(size)
    with site.meter.measuring() as spent:
        appends = (site.produce(value, n % PARTITIONS, windowed) for n in range(2 * PARTITIONS))
        await asyncio.gather(*appends)
        await windowed.background_done()
    said = ProcessActs.APPEND.plus(SETTLED).times(PARTITIONS).plus(OBJECT.times(puts))
    assert spent.act._replace(reads=0) == said


async def test_a_sweep_of_windows_gets_each_that_is_dead_and_updates_each_head_once(site: Site):
    windowed, windows = site.with_window(), 5
    for _ in range(windows):
        await asyncio.gather(*(site.produce(LARGE, n, windowed) for n in range(PARTITIONS)))
    for _ in range(5):  # all of it is merged, and what named it is forgotten
        site.clock.turn(FIVE_MINUTES_MS)
        await tend(windowed)
    later = site.another()  # which has none of them in its cache
    with site.meter.measuring() as spent:
        assert await later.log.janitor.windows.sweep() == windows
    said = SWEPT_WINDOW.times(windows).plus(SWEEP_OF_A_PARTITION.times(PARTITIONS))
    assert spent.act._replace(reads=0, lists=0) == said._replace(reads=0, lists=0)
    assert spent.act.lists == 1  # a page of it is for a thousand
    assert said.reads / 4 <= spent.act.reads <= said.reads


@pytest.mark.parametrize("partitions", [1, PARTITIONS])
async def test_a_fetch_that_waits_until_its_time_is_over_looks_twice(site: Site, partitions: int):
    for _ in range(2):  # the second finds that this process watches already
        row = await site.fetch(partitions, SHORT_WAIT_MS)
        with site.meter.measuring() as spent:
            waiting = await site.begin(row)
            site.clock.turn(SHORT_WAIT_MS)
            assert not await waiting
    assert spent.act._replace(reads=0) == ProcessActs.LOOK.times(2 * partitions)


@pytest.mark.parametrize("partitions", [1, PARTITIONS])
async def test_a_fetch_that_is_woken_looks_once_more(site: Site, partitions: int):
    for _ in range(2):  # the second finds that this process watches already
        row = await site.fetch(partitions, WAIT_MS)
        waiting = await site.begin(row)
        with site.meter.measuring() as spent:
            await site.produce()
            assert await waiting
            await site.broker.background_done()
    said = ProcessActs.LOOK.times(partitions).plus(ProcessActs.APPEND).plus(SETTLED)
    assert spent.act._replace(reads=0) == said


async def test_a_fetch_that_finds_something_at_once_looks_once(site: Site):
    row = await site.fetch(1, WAIT_MS)
    await site.produce()
    await site.broker.background_done()
    with site.meter.measuring() as spent:
        assert await site.ask(row)
    assert spent.act == ProcessActs.LOOK


async def test_a_watch_is_renewed_in_half_a_minute(site: Site):
    async def woken() -> Act:
        waiting = await site.begin(await site.fetch(1, WAIT_MS))
        await site.produce()
        assert await waiting
        return NOTHING

    await woken()
    site.clock.turn(30_000)
    said = ProcessActs.APPEND.plus(ProcessActs.WATCH)
    assert (await site.cost(woken())).head_writes == said.head_writes
    assert (await site.cost(woken())).head_writes == ProcessActs.APPEND.head_writes


class Member:
    """The only one of its group."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.id = ""

    async def join(self) -> None:
        row = join_group.REQUEST(
            group_id=GROUP,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=SESSION_MS,
            member_id=self.id,
            protocol_type="consumer",
            protocols=[join_group.PROTOCOL(name="range", metadata=b"")],
        )
        joined = await ask(self.site.broker, ApiKey.JOIN_GROUP, 9, row)
        self.id = joined.member_id
        if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            return await self.join()
        row = sync_group.REQUEST(group_id=GROUP, generation_id=1, member_id=self.id)
        assert (await ask(self.site.broker, ApiKey.SYNC_GROUP, 4, row)).error_code == 0
        return None

    async def beat(self) -> None:
        row = heartbeat.REQUEST(group_id=GROUP, generation_id=1, member_id=self.id)
        assert (await ask(self.site.broker, ApiKey.HEARTBEAT, 4, row)).error_code == 0

    async def commit(self) -> None:
        partitions = [
            offset_commit.PARTITION(partition_index=n, committed_offset=n)
            for n in range(PARTITIONS)
        ]
        row = offset_commit.REQUEST(
            group_id=GROUP,
            generation_id_or_member_epoch=1,
            member_id=self.id,
            topics=[offset_commit.TOPIC(name=TOPIC, partitions=partitions)],
        )
        answer = await ask(self.site.broker, ApiKey.OFFSET_COMMIT, 9, row)
        assert {p.error_code for p in answer.topics[0].partitions} == {0}


@pytest.fixture
async def member(site: Site) -> Member:
    member = Member(site)
    await member.join()
    return member


async def test_heartbeats_of_which_some_write(site: Site, member: Member):
    beats, spent = 30, NOTHING
    for _ in range(beats):
        spent = spent.plus(await site.cost(member.beat()))
        site.clock.turn(3_000)
    each = spent.times(1 / beats)
    assert each.reads == pytest.approx(ProcessActs.BEAT.reads)
    assert ProcessActs.BEAT.writes / 2 <= each.writes <= ProcessActs.BEAT.writes


async def test_a_commit(site: Site, member: Member):
    await member.commit()
    assert await site.cost(member.commit()) == ProcessActs.COMMIT
