"""What a request costs on AWS, counted where the calls leave us: each of them is paid for."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import uuid4

import pytest
from faults.inside import TurnedClock, a_broker, ask
from server.talk import FETCH, PRODUCE, batch, fetch_row, produce_row
from support.waiting import eventually

from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.s3 import S3Objects
from samsa.broker.broker import Broker
from samsa.broker.nodes import Nodes
from samsa.log.cache import TailCache
from samsa.log.watch import RENEW_MS
from samsa.ports import Extent, Node, Partition
from samsa.ports.bounds import FEW_PRODUCERS, IDLE_PRODUCER_MS
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import describe_cluster, find_coordinator, metadata, produce

TOPIC = "costs"
COMMIT = {"UpdateItem": 1}
"""What an append waits for. Its bytes are in it, if they are few."""
LARGE_COMMIT = {"put": 1, "UpdateItem": 1}
APPEND, LARGE_APPEND = {**COMMIT, "PutItem": 1}, {**LARGE_COMMIT, "PutItem": 1}
"""With the entry in the index, which is written afterwards; the next commit takes it out of the
head."""
LARGE = b"x" * 100_000


class Site:
    """One table and one bucket, and the brokers on them."""

    def __init__(self, endpoint: str, ledger: DynamoLedger) -> None:
        self.clock = TurnedClock()
        self.ledger = ledger
        self.s3 = S3Objects("samsa", str(uuid4()), endpoint, "us-east-1")
        self._brokers: list[Broker] = []
        self.broker = self.another_broker()

    def another_broker(self) -> Broker:
        self._brokers.append(a_broker(self.ledger, TailCache(self.s3, 1 << 20), self.clock))
        return self._brokers[-1]

    def spent(self) -> Counter[str]:
        return Counter(self.ledger.requests) + Counter(self.s3.calls)

    async def produce(self, data: bytes, partition: int = 0, broker: Broker | None = None) -> int:
        row = produce_row(TOPIC, data, partition)
        answer = await ask(broker or self.broker, ApiKey.PRODUCE, PRODUCE, row)
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
        """With what it leaves to be done afterwards."""
        before = self.spent()
        await asyncio.gather(*work)
        for broker in self._brokers:
            await broker.log.background_done()
        return self.spent() - before


@pytest.fixture
async def site(moto: str) -> AsyncIterator[Site]:
    ledger = DynamoLedger(f"costs-{uuid4()}", moto, "us-east-1")
    await ledger.create_table()
    site = Site(moto, ledger)
    await site.broker.catalog.create(TOPIC, 3, {})
    await site.cost(*(site.produce(batch(b"first"), partition) for partition in range(3)))
    yield site
    assert not {"Scan", "list"} & site.spent().keys(), "something was listed"
    await ledger.close()


def numbered(producer_id: int, sequence: int, value: bytes = b"value") -> bytes:
    return batch(value, producer_id=producer_id, producer_epoch=0, base_sequence=sequence)


@pytest.mark.parametrize("idempotent", [False, True])
@pytest.mark.parametrize(("value", "commit"), [(b"value", COMMIT), (LARGE, LARGE_COMMIT)])
async def test_an_append_waits_for_one_update_and_if_it_is_large_for_one_put(
    site: Site,
    value: bytes,
    commit: dict[str, int],
    idempotent: bool,
    monkeypatch: pytest.MonkeyPatch,
):
    if idempotent:
        await site.cost(site.produce(numbered(7, 0)))
    may_settle, index = asyncio.Event(), site.ledger.index

    async def put_off(*arguments: Any) -> None:
        await may_settle.wait()
        await index(*arguments)

    monkeypatch.setattr(site.ledger, "index", put_off)
    before = site.spent()
    await site.produce(numbered(7, 1, value) if idempotent else batch(value))
    assert site.spent() - before == commit
    may_settle.set()
    await site.broker.log.background_done()
    assert site.spent() - before == {**commit, "PutItem": 1}


async def test_processes_that_append_in_turn_pay_no_more(site: Site):
    """Though each guesses wrong offsets."""
    other = site.another_broker()
    await site.cost(site.produce(batch(b"value"), broker=other))
    for data, append in ((b"value", APPEND), (LARGE, LARGE_APPEND)):
        for broker in (site.broker, other):
            assert await site.cost(site.produce(batch(data), broker=broker)) == append
    assert await site.produce(batch(b"value")) == 6, "it was not the same partition"


async def test_each_entry_is_settled_by_one_write_and_leaves_the_head_with_a_commit(site: Site):
    appends = 64
    cost = Counter[str]()
    for number in range(appends):
        data = LARGE if number % 8 == 0 else b"value"
        cost += await site.cost(site.produce(batch(data)))
        assert len(await tail(site)) <= 2
    assert cost == {"UpdateItem": appends, "put": appends // 8, "PutItem": appends}


async def tail(site: Site) -> Sequence[Extent]:
    """Not counted."""
    topic = await site.ledger.topic(TOPIC)
    assert topic is not None
    found = (await site.ledger.head(Partition(topic.id, 0))).tail
    site.ledger.requests["GetItem"] -= 2
    return found


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


@pytest.mark.parametrize(("value", "append"), [(b"value", APPEND), (LARGE, LARGE_APPEND)])
async def test_an_idempotent_producer_costs_two_reads_at_first_and_then_nothing_more(
    site: Site, value: bytes, append: dict[str, int]
):
    assert await site.cost(site.produce(numbered(7, 0, value))) == {**append, "GetItem": 2}
    assert await site.cost(site.produce(numbered(7, 1, value))) == append
    assert await site.cost(site.produce(numbered(7, 2, value))) == append


async def test_a_batch_that_is_sent_again_costs_one_read(site: Site):
    await site.cost(site.produce(numbered(7, 0)))
    assert await site.cost(site.produce(numbered(7, 0))) == {"GetItem": 1}


async def test_producers_that_rest_are_evicted_by_one_write_each_and_one_update(site: Site):
    everyone = range(FEW_PRODUCERS + 1)
    for number in everyone:
        await site.cost(site.produce(numbered(number, 0)))
    site.clock.turn(IDLE_PRODUCER_MS + 1)
    await site.broker.catalog.named(TOPIC)  # it is looked up once a second
    cost = await site.cost(site.produce(numbered(everyone[-1], 1)))
    assert cost == {"UpdateItem": 2, "PutItem": FEW_PRODUCERS + 1}
    one_read = {**APPEND, "GetItem": 1}
    assert await site.cost(site.produce(numbered(0, 1))) == one_read, "an evicted one comes back"
    assert await site.cost(site.produce(numbered(0, 2))) == APPEND


@pytest.mark.parametrize(("value", "puts"), [(b"value", {}), (LARGE, {"put": 1})])
async def test_the_partitions_of_a_produce_have_a_commit_each_and_share_a_put(
    site: Site, value: bytes, puts: dict[str, int]
):
    entries = [produce.PARTITION(index=n, records=batch(value)) for n in range(3)]
    row = produce_row(TOPIC, None)
    row.topic_data[0].partition_data = entries
    cost = await site.cost(ask(site.broker, ApiKey.PRODUCE, PRODUCE, row))
    assert cost == {"UpdateItem": 3, "PutItem": 3, **puts}


@pytest.mark.parametrize("value", [b"value", LARGE])
async def test_reading_the_tail_is_one_read_and_gets_no_object(site: Site, value: bytes):
    await site.cost(site.produce(batch(value)))
    assert await site.cost(site.fetch(1)) == {"GetItem": 1}


async def test_what_is_settled_costs_one_query_more(site: Site):
    for _ in range(10):
        await site.cost(site.produce(batch(b"value")))
    assert await site.cost(site.fetch()) == {"GetItem": 1, "Query": 1}


async def test_reading_what_another_process_wrote_gets_each_large_object_once(site: Site):
    for _ in range(9):
        await site.cost(site.produce(batch(LARGE)))
    other = site.another_broker()
    await other.catalog.named(TOPIC)
    lookup = {"GetItem": 1, "Query": 1}
    assert await site.cost(site.fetch(broker=other)) == {**lookup, "get": 9}
    assert await site.cost(site.fetch(broker=other)) == lookup


async def test_readers_who_want_the_same_object_at_once_get_it_once(site: Site):
    await site.cost(site.produce(batch(LARGE)))
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
    watch, woken_read = {"UpdateItem": 1}, {"GetItem": 1}
    first = appends + Counter(watch) + Counter({"GetItem": 2}) + Counter(woken_read)
    later = appends + Counter({"GetItem": 1}) + Counter(woken_read)
    assert await site.cost(woken(site, looks=2)) == first
    assert await site.cost(woken(site, looks=1)) == later
    site.clock.turn(RENEW_MS)
    assert await site.cost(woken(site, looks=2)) == later + Counter(watch) + Counter(GetItem=1)


async def test_twenty_producers_at_once_share_commits(site: Site):
    everyone = (site.produce(batch(b"value %d" % number)) for number in range(20))
    cost = await site.cost(*everyone)
    commits = cost["UpdateItem"]
    assert commits <= 3
    assert cost == {"UpdateItem": commits, "PutItem": commits}
    assert await site.fetch() > 0


async def test_twenty_idempotent_producers_at_once_share_commits(site: Site):
    cost = await site.cost(*(site.produce(numbered(number, 0)) for number in range(20)))
    commits = cost["UpdateItem"]
    assert commits <= 3
    assert cost == {"UpdateItem": commits, "PutItem": commits, "GetItem": 2 * 20}
    again = await site.cost(*(site.produce(numbered(number, 1)) for number in range(20)))
    commits = again["UpdateItem"]
    assert commits <= 3
    assert again == {"UpdateItem": commits, "PutItem": commits}
