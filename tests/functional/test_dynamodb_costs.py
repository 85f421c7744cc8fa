"""What the DynamoDB ledger asks of DynamoDB, pinned: each request is paid for."""

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import boto3
import pytest
from functional.given import DAY_MS, a_partition, a_topic, an_extent, an_update, append
from functional.journals import a_claim, a_journal, put

from samsa.aws.dynamodb import DynamoLedger
from samsa.local.memory import MemoryObjects
from samsa.ports import Bound, Claim, Partition
from samsa.ports.heads import HeadProducer

EXTENT = an_extent(1, 10)
PRODUCER = HeadProducer(Bound(1, b"state", 0), 0, 1_700_000_000_001)
SMALL, LARGE = b"s" * 200, b"L" * 5_000


@pytest.fixture
async def ledger(moto: str) -> AsyncIterator[DynamoLedger]:
    ledger = DynamoLedger("costs", moto)
    await ledger.create_table()
    yield ledger
    await ledger.close()


@pytest.fixture
async def partition(ledger: DynamoLedger, request: pytest.FixtureRequest) -> Partition:
    return await a_partition(ledger, request.node.name.replace("[", ".").replace("]", ""))


async def cost(ledger: DynamoLedger, method: str, *arguments: object) -> Counter[str]:
    before = Counter(ledger.requests)
    await getattr(ledger, method)(*arguments)
    return Counter(ledger.requests) - before


@pytest.mark.parametrize(
    ("method", "arguments", "requests"),
    [
        ("head_state", (), {"GetItem": 1}),
        ("update_head", (an_update("new"),), {"UpdateItem": 1}),
        ("update_head", (an_update("there"),), {"UpdateItem": 1}),  # refused
        ("take_out", ({"there": 0},), {"UpdateItem": 1}),
        ("count_sweep", (), {"UpdateItem": 1}),
        ("producer_item", (1,), {"GetItem": 1}),
        ("store_producer", (1, PRODUCER), {"PutItem": 1}),
        ("evict", ({1: PRODUCER},), {"UpdateItem": 1}),
        ("producers", (0,), {"GetItem": 1, "Query": 1}),
        ("head", (), {"GetItem": 1}),
        ("index", (EXTENT,), {"PutItem": 1}),
        ("extents", (0, 100), {"Query": 1}),
        ("extent_at_time", (0,), {"GetItem": 1, "Query": 1}),
        ("newest_extent", (), {"GetItem": 1, "Query": 1}),
        ("watch", ("me", DAY_MS), {"UpdateItem": 1}),
        ("unwatch", ("me",), {"UpdateItem": 1}),
        ("advance_start", (1,), {"UpdateItem": 1}),
    ],
)
async def test_a_call_costs_what_it_is_said_to(
    ledger: DynamoLedger,
    partition: Partition,
    method: str,
    arguments: tuple[object, ...],
    requests: dict[str, int],
):
    await ledger.update_head(partition, an_update("there"))
    assert await cost(ledger, method, partition, *arguments) == requests


# Appends


async def cost_of_put(journal: Any, ledger: DynamoLedger, *arguments: Any) -> Counter[str]:
    """Until it is committed: settling comes after that."""
    await journal.drain()
    before = Counter(ledger.requests)
    assert (await put(journal, *arguments)).base is not None
    return Counter(ledger.requests) - before


async def test_an_append_is_one_request_after_the_first_that_reads_the_head(
    ledger: DynamoLedger, partition: Partition
):
    objects = MemoryObjects()
    journal = a_journal(ledger, objects)
    assert await cost_of_put(journal, ledger, partition, SMALL) == {"GetItem": 1, "UpdateItem": 1}
    assert await cost_of_put(journal, ledger, partition, SMALL) == {"UpdateItem": 1}
    assert objects.calls["put"] == 0
    assert await cost_of_put(journal, ledger, partition, LARGE) == {"UpdateItem": 1}
    assert objects.calls["put"] == 1


async def test_a_producer_that_is_not_in_the_head_costs_one_read_and_then_none(
    ledger: DynamoLedger, partition: Partition
):
    journal = a_journal(ledger)
    await put(journal, partition)
    claimed = [
        await cost_of_put(journal, ledger, partition, SMALL, [a_claim(1, after=after)])
        for after in range(3)
    ]
    assert claimed == [{"GetItem": 1, "UpdateItem": 1}, {"UpdateItem": 1}, {"UpdateItem": 1}]


async def test_what_was_read_to_judge_a_producer_is_not_read_again_to_commit(
    ledger: DynamoLedger, partition: Partition
):
    journal = a_journal(ledger)
    before = Counter(ledger.requests)
    assert await journal.producer(partition, 1) is None
    assert Counter(ledger.requests) - before == {"GetItem": 2}  # the head, and its own item
    assert await cost_of_put(journal, ledger, partition, SMALL, [a_claim(1)]) == {"UpdateItem": 1}


async def test_settling_is_one_request_for_each_append_and_none_of_the_head_alone(
    dynamodb: DynamoLedger,
):
    partition = await a_partition(dynamodb)
    journal = a_journal(dynamodb)
    await journal.next_offset(partition)
    before = Counter(dynamodb.requests)
    for _ in range(100):
        await put(journal, partition, SMALL)
        await journal.drain()
    asked = Counter(dynamodb.requests) - before
    assert asked == {"UpdateItem": 100, "PutItem": 100}
    assert len(await dynamodb.extents(partition, 0, 1_000)) == 100


@pytest.mark.parametrize(("size", "most"), [(200, 2.0), (1_000, 4.0), (5_000, 2.0)])
@pytest.mark.parametrize("producers", [0, 1])
async def test_an_append_consumes_no_more_units_than_this_settling_included(
    dynamodb: DynamoLedger, size: int, most: float, producers: int
):
    """DynamoDB bills an update by the size of the whole head. moto does not weigh items."""
    partition = await a_partition(dynamodb)
    journal = a_journal(dynamodb)
    for after in range(140):
        dynamodb.table.metering = after >= 40
        claims = [a_claim(1, b"s" * 60, after)] * producers
        await put(journal, partition, b"d" * size, claims)
        await journal.drain()
    assert 0 < sum(dynamodb.table.units.values()) / 100 <= most


# The rest


async def test_one_page_of_extents_is_one_request_however_long_the_index(
    ledger: DynamoLedger, partition: Partition
):
    for base in range(20):
        await ledger.index(partition, an_extent(base))
    await ledger.head(partition)  # as every reader does
    assert await cost(ledger, "extents", partition, 0, 5) == {"Query": 1}


async def test_a_topic_of_a_hundred_partitions_is_two_transactions(ledger: DynamoLedger):
    topic = a_topic("hundred", 100)
    assert await cost(ledger, "create_topic", topic) == {"TransactWriteItems": 2}


async def test_the_table_is_paid_per_request_and_forgets_what_expired(
    ledger: DynamoLedger, moto: str
):
    await ledger.create_table()
    client = boto3.client("dynamodb", endpoint_url=moto)
    table = client.describe_table(TableName="costs")["Table"]
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    ttl = client.describe_time_to_live(TableName="costs")["TimeToLiveDescription"]
    assert (ttl["TimeToLiveStatus"], ttl["AttributeName"]) == ("ENABLED", "expires")
    client.close()


async def test_only_producers_that_left_the_head_expire_and_in_seconds(
    ledger: DynamoLedger, partition: Partition, moto: str
):
    await append(ledger, partition, an_extent(0), [Claim(7, b"state", 0, DAY_MS)])
    await ledger.watch(partition, "me", DAY_MS)
    await ledger.store_producer(partition, 1, PRODUCER)
    client = boto3.client("dynamodb", endpoint_url=moto)
    items = client.scan(TableName="costs", FilterExpression="attribute_exists(expires)")["Items"]
    mine = [item for item in items if str(partition.topic_id) in item["pk"]["S"]]
    assert [(item["sk"]["S"], item["expires"]["N"]) for item in mine] == [("B#1", "1700000001")]
    client.close()
