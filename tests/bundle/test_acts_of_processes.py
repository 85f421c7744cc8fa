"""The same for `samsa up` on DynamoDB and S3: what `samsa cost` counts, a broker asks for."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import Any
from uuid import uuid4

import pytest
from bundle.meter import Meter
from faults.inside import TurnedClock, a_broker, ask
from server.talk import FETCH, PRODUCE, batch, fetch_row, produce_row
from support.stores import BUCKET
from support.waiting import eventually

from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.dynamodb_groups import DynamoGroups
from samsa.aws.s3 import S3Objects
from samsa.cost.acts import Act, Processes
from samsa.cost.of_processes import ANNOUNCED_EVERY_S
from samsa.handlers.broker import Broker
from samsa.log.cache import TailCache
from samsa.server.announced_address import Place
from samsa.server.announcing import Announcer
from samsa.server.roster import RENEW_S
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import heartbeat, join_group, offset_commit, sync_group

TOPIC, GROUP, PARTITIONS = "costs", "family", 3
WAIT_MS = 20_000
SESSION_MS = 45_000
NOTHING = Act()


class Site:
    def __init__(self, ledger: DynamoLedger, s3: S3Objects) -> None:
        self.clock = TurnedClock()
        self.meter = Meter()
        self.meter.stores(ledger.table, s3)
        groups = DynamoGroups(ledger.table)
        self.ledger = ledger
        self.broker: Broker = a_broker(ledger, TailCache(s3, 1 << 20), self.clock, groups)

    async def cost(self, *work: Awaitable[object]) -> Act:
        with self.meter.measuring() as spent:
            await asyncio.gather(*work)
        return spent.act

    async def produce(self, **more: Any) -> int:
        row = produce_row(TOPIC, batch(b"value", **more))
        answer = await ask(self.broker, ApiKey.PRODUCE, PRODUCE, row)
        (one,) = answer.responses[0].partition_responses
        assert one.error_code == ErrorCode.NONE, one
        return int(one.base_offset)

    async def woken(self, partitions: int) -> None:
        """Wait at the end, and be woken by an append."""
        end = await self.produce() + 1
        row = fetch_row(TOPIC, end, tuple(range(partitions)), wait_ms=WAIT_MS)
        for entry in row.topics[0].partitions[1:]:
            entry.fetch_offset = 0
        looked = self.ledger.requests["GetItem"] + partitions
        waiting = asyncio.create_task(ask(self.broker, ApiKey.FETCH, FETCH, row))
        await asyncio.to_thread(eventually, lambda: self.ledger.requests["GetItem"] >= looked)
        await asyncio.sleep(0.1)
        await self.produce()
        answer = await waiting
        assert any(p.records for p in answer.responses[0].partitions)


@pytest.fixture
async def site(stores: tuple[str, str]) -> AsyncIterator[Site]:
    dynamodb, s3 = stores
    name = f"acts-{uuid4()}"
    ledger = DynamoLedger(name, dynamodb, "us-east-1")
    await ledger.create_table()
    site = Site(ledger, S3Objects(BUCKET, name, s3, "us-east-1"))
    await site.broker.catalog.create(TOPIC, PARTITIONS, {})
    await site.produce()
    yield site
    await ledger.close()


def numbered(sequence: int) -> dict[str, int]:
    return {"producer_id": 7, "producer_epoch": 0, "base_sequence": sequence}


async def test_an_announcement(site: Site):
    place = Place("10.0.0.1", 9092, "")
    announcer = Announcer(site.broker, place, "eu-central-1a", is_far=True)
    await announcer.look()
    assert await site.cost(announcer.look()) == Processes.ANNOUNCE
    assert RENEW_S == ANNOUNCED_EVERY_S


async def test_a_slot(site: Site):
    assert await site.cost(site.produce()) == Processes.SLOT


async def test_a_batch_of_an_idempotent_producer(site: Site):
    await site.produce(**numbered(0))
    assert await site.cost(site.produce(**numbered(1))) == Processes.SLOT.plus(Processes.BIND)


async def test_a_producer_binds_once_in_a_slot_however_many_batches_it_has_there(site: Site):
    await site.produce(**numbered(0))
    spent = await site.cost(*(site.produce(**numbered(n)) for n in range(1, 6)))
    assert spent.puts < 5
    assert spent == Processes.SLOT.plus(Processes.BIND).times(spent.puts)


@pytest.mark.parametrize("partitions", [1, PARTITIONS])
async def test_a_fetch_that_waited_and_was_woken(site: Site, partitions: int):
    await site.woken(partitions)  # and now it is known that this process watches
    spent = await site.cost(site.woken(partitions))
    more = Processes.PARTITION_READ.times(partitions - 1)
    assert spent.plus(Processes.SLOT.times(-2)) == Processes.READ.plus(more)


async def test_a_watch_is_renewed_in_half_a_minute(site: Site):
    await site.woken(1)
    site.clock.turn(30_000)
    spent = await site.cost(site.woken(1))
    assert spent.writes == Processes.SLOT.times(2).plus(Processes.WATCH).writes
    spent = await site.cost(site.woken(1))
    assert spent.writes == Processes.SLOT.times(2).writes


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
    assert each.reads == pytest.approx(Processes.BEAT.reads)
    assert Processes.BEAT.writes / 2 <= each.writes <= Processes.BEAT.writes


async def test_a_commit(site: Site, member: Member):
    await member.commit()
    assert await site.cost(member.commit()) == Processes.COMMIT
