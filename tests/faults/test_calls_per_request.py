"""What a request costs on AWS, counted where the calls leave us: each of them is paid for."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from faults.inside import TurnedClock, a_broker, ask
from server.talk import FETCH, PRODUCE, batch, fetch_row, produce_row
from support.waiting import eventually

from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.s3 import S3Objects
from samsa.handlers.broker import Broker
from samsa.handlers.nodes import Nodes
from samsa.log.cache import TailCache
from samsa.log.watch import RENEW_MS
from samsa.ports import Node
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import describe_cluster, find_coordinator, metadata, produce

TOPIC = "costs"
APPEND = {"UpdateItem": 2, "PutItem": 1, "put": 1}
"""Reserve, confirm, extent; and the object."""


class Site:
    """One table and one bucket, and the brokers on them."""

    def __init__(self, endpoint: str, ledger: DynamoLedger) -> None:
        self.clock = TurnedClock()
        self.ledger = ledger
        self.s3 = S3Objects("samsa", str(uuid4()), endpoint, "us-east-1")
        self.broker = self.another_broker()

    def another_broker(self) -> Broker:
        return a_broker(self.ledger, TailCache(self.s3, 1 << 20), self.clock)

    def spent(self) -> Counter[str]:
        return Counter(self.ledger.requests) + Counter(self.s3.calls)

    async def produce(self, data: bytes, partition: int = 0) -> int:
        row = produce_row(TOPIC, data, partition)
        answer = await ask(self.broker, ApiKey.PRODUCE, PRODUCE, row)
        (one,) = answer.responses[0].partition_responses
        assert one.error_code == ErrorCode.NONE, one
        return int(one.base_offset)

    async def fetch(self, offset: int = 0, wait_ms: int = 0, broker: Broker | None = None) -> int:
        """How many bytes came."""
        row = fetch_row(TOPIC, offset, wait_ms=wait_ms)
        answer = await ask(broker or self.broker, ApiKey.FETCH, FETCH, row)
        (one,) = answer.responses[0].partitions
        assert one.error_code == ErrorCode.NONE, one
        return sum(map(len, one.records))

    async def cost(self, *work: object) -> Counter[str]:
        before = self.spent()
        await asyncio.gather(*work)
        return self.spent() - before


@pytest.fixture
async def site(moto: str) -> AsyncIterator[Site]:
    ledger = DynamoLedger(f"costs-{uuid4()}", moto, "us-east-1")
    await ledger.create_table()
    site = Site(moto, ledger)
    await site.broker.catalog.create(TOPIC, 3, {})
    await site.produce(batch(b"first"))
    yield site
    assert not {"Scan", "list"} & site.spent().keys(), "something was listed"
    await ledger.close()


def numbered(producer_id: int, sequence: int) -> bytes:
    return batch(b"value", producer_id=producer_id, producer_epoch=0, base_sequence=sequence)


async def test_an_append_is_one_put_and_three_writes(site: Site):
    assert await site.cost(site.produce(batch(b"value", b"another"))) == APPEND


async def test_a_topic_is_looked_up_once_a_second(site: Site):
    site.clock.turn(1_000)
    assert await site.cost(site.produce(batch(b"value"))) == {**APPEND, "GetItem": 1}
    assert await site.cost(site.produce(batch(b"value"))) == APPEND


async def test_naming_many_nodes_asks_no_store(site: Site):
    nodes = [Node(n, f"o{n}", 1, f"10.0.0.{n}", 9092, "ab"[n % 2], "", 0) for n in range(50)]
    site.broker.nodes = Nodes(nodes, 0)
    asked = metadata.REQUEST(topics=[metadata.TOPIC(name=TOPIC)])
    groups = find_coordinator.REQUEST(key_type=1, coordinator_keys=["family"])
    await site.broker.catalog.named(TOPIC)
    for key, version, request in (
        (ApiKey.METADATA, 12, asked),
        (ApiKey.DESCRIBE_CLUSTER, 1, describe_cluster.REQUEST()),
        (ApiKey.FIND_COORDINATOR, 4, groups),
    ):
        assert await site.cost(ask(site.broker, key, version, request)) == {}
    answer = await ask(site.broker, ApiKey.METADATA, 12, asked)
    assert len(answer.brokers) == 50


async def test_an_idempotent_producer_costs_one_write_more_and_at_first_a_read(site: Site):
    one_more = {**APPEND, "PutItem": 2}
    assert await site.cost(site.produce(numbered(7, 0))) == {**one_more, "GetItem": 1}
    assert await site.cost(site.produce(numbered(7, 1))) == one_more
    assert await site.cost(site.produce(numbered(7, 2))) == one_more


async def test_each_partition_of_a_produce_costs_an_append(site: Site):
    entries = [produce.PARTITION(index=n, records=batch(b"value")) for n in range(3)]
    row = produce_row(TOPIC, None)
    row.topic_data[0].partition_data = entries
    cost = await site.cost(ask(site.broker, ApiKey.PRODUCE, PRODUCE, row))
    assert cost == {name: 3 * count for name, count in APPEND.items()}


async def test_reading_the_tail_gets_no_object(site: Site):
    offset = await site.produce(batch(b"value"))
    assert await site.cost(site.fetch(offset)) == {"GetItem": 1, "Query": 1}


async def test_reading_what_another_process_wrote_gets_each_object_once(site: Site):
    for _ in range(9):
        await site.produce(batch(b"value"))
    other = site.another_broker()
    lookup = {"GetItem": 2, "Query": 1}
    assert await site.cost(site.fetch(broker=other)) == {**lookup, "get": 10}
    assert await site.cost(site.fetch(broker=other)) == {"GetItem": 1, "Query": 1}


async def test_readers_who_want_the_same_object_at_once_get_it_once(site: Site):
    other = site.another_broker()
    cost = await site.cost(*(site.fetch(broker=other) for _ in range(5)))
    assert cost["get"] == 1


async def test_a_reader_that_has_caught_up_costs_one_read(site: Site):
    assert await site.cost(site.fetch(1)) == {"GetItem": 1}


async def woken(site: Site, looks: int) -> None:
    """Wait at the end, looking so often before, and be woken by an append."""
    looked = site.spent()["GetItem"] + looks
    offset = await site.produce(batch(b"before"))
    waiting = asyncio.create_task(site.fetch(offset + 1, wait_ms=20_000))
    await asyncio.to_thread(eventually, lambda: site.spent()["GetItem"] >= looked)
    await asyncio.sleep(0.1)
    await site.produce(batch(b"after"))
    assert await waiting


async def test_a_reader_that_waits_writes_once_in_half_a_minute(site: Site):
    appends = Counter(APPEND) + Counter(APPEND)
    watch, woken_read = {"UpdateItem": 1}, {"GetItem": 1, "Query": 1}
    first = appends + Counter(watch) + Counter({"GetItem": 2}) + Counter(woken_read)
    later = appends + Counter({"GetItem": 1}) + Counter(woken_read)
    assert await site.cost(woken(site, looks=2)) == first
    assert await site.cost(woken(site, looks=1)) == later
    site.clock.turn(RENEW_MS)
    assert await site.cost(woken(site, looks=2)) == later + Counter(watch) + Counter(GetItem=1)


async def test_twenty_producers_at_once_share_two_slots(site: Site):
    everyone = (site.produce(batch(b"value %d" % number)) for number in range(20))
    cost = await site.cost(*everyone)
    assert cost["put"] <= 3, cost
    assert cost["UpdateItem"] == 2 * cost["put"]
    assert await site.fetch() > 0


async def test_twenty_idempotent_producers_at_once_share_slots_and_bind_one_by_one(site: Site):
    cost = await site.cost(*(site.produce(numbered(number, 0)) for number in range(20)))
    assert cost["put"] <= 3, cost
    assert cost["PutItem"] == cost["put"] + 20
    again = await site.cost(*(site.produce(numbered(number, 1)) for number in range(20)))
    assert again["put"] <= 3, again
    assert "GetItem" not in again
