"""What the DynamoDB ledger asks of DynamoDB, pinned: each request is paid for."""

from collections import Counter
from collections.abc import AsyncIterator

import boto3
import pytest
from functional.given import DAY_MS, a_partition, a_topic, an_extent, append

from samsa.aws.dynamodb import DynamoLedger
from samsa.ports import Partition

EXTENT = an_extent(0, 10)


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
        ("reserve", ("other", 1), {"UpdateItem": 1}),
        ("confirm", ("token", EXTENT), {"UpdateItem": 1, "PutItem": 1}),
        ("confirm", ("closed", EXTENT), {"UpdateItem": 1}),
        ("bind", (1, b"state", 0, DAY_MS), {"PutItem": 1}),
        ("producer", (1,), {"GetItem": 1}),
        ("head", (), {"GetItem": 1}),
        ("index", (EXTENT,), {"PutItem": 1}),
        ("extents", (0, 100), {"Query": 1}),
        ("extent_before", (5,), {"Query": 1}),
        ("extent_at_time", (0,), {"GetItem": 1, "Query": 1}),
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
    await ledger.reserve(partition, "token", 10)
    assert await cost(ledger, method, partition, *arguments) == requests


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


async def test_only_producers_expire_and_in_seconds(
    ledger: DynamoLedger, partition: Partition, moto: str
):
    await append(ledger, partition, "token", EXTENT)
    await ledger.watch(partition, "me", DAY_MS)
    await ledger.bind(partition, 1, b"state", 0, 1_700_000_000_001)
    client = boto3.client("dynamodb", endpoint_url=moto)
    items = client.scan(TableName="costs", FilterExpression="attribute_exists(expires)")["Items"]
    mine = [item for item in items if str(partition.topic_id) in item["pk"]["S"]]
    assert [(item["sk"]["S"], item["expires"]["N"]) for item in mine] == [("B#1", "1700000001")]
    client.close()
