"""Table and bucket go back to one time together, by the steps of docs/restoring.md."""

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import jmespath
import pytest
from bundle.given_gateway import Cluster, Pushes, serving_pushes
from bundle.talk import create, look, read_all, write
from support.waiting import eventually

from samsa.aws.dynamodb import DynamoLedger
from samsa.ports.bounds import INLINE_BYTES
from samsa.runtime.upkeep import tend
from samsa_websocket.envelope import Reply

PAGE = (Path(__file__).parents[2] / "docs" / "restoring.md").read_text("utf-8")
QUERIES = re.findall(r'--query "([^"]+)"', PAGE)
MINUTE_MS = 60_000
RECORDS = 24
LARGE = bytes(INLINE_BYTES)
"""What is smaller is in the table, and has no object to be swept."""


class Bucket:
    """One with versions, as the template makes it."""

    def __init__(self, endpoint: str) -> None:
        self.name = f"samsa-{uuid4()}"
        self.client = boto3.client("s3", endpoint_url=endpoint)
        self.client.create_bucket(Bucket=self.name)
        self.client.put_bucket_versioning(
            Bucket=self.name, VersioningConfiguration={"Status": "Enabled"}
        )

    def versions(self) -> dict[str, Any]:
        """As the AWS command line has them: times are texts."""
        found: dict[str, Any] = {"Versions": [], "DeleteMarkers": []}
        pages = self.client.get_paginator("list_object_versions")
        for page in pages.paginate(Bucket=self.name, Prefix="log/"):
            for kind, entries in found.items():
                entries += [
                    {**each, "LastModified": each["LastModified"].isoformat()}
                    for each in page.get(kind, [])
                ]
        return found

    def go_back(self, to_s: int) -> None:
        (markers,) = QUERIES
        for key, version in jmespath.search(markers.replace("'T'", text(to_s)), self.versions()):
            self.client.delete_object(Bucket=self.name, Key=key, VersionId=version)


def text(second: int) -> str:
    return f"'{datetime.fromtimestamp(second, UTC):%Y-%m-%dT%H:%M:%S}'"


class Account:
    def __init__(self, endpoint: str, pushes: Pushes) -> None:
        self.endpoint = endpoint
        self.bucket = Bucket(endpoint)
        self._pushes = pushes
        self._dynamodb = boto3.client("dynamodb", endpoint_url=endpoint)

    def cluster(self, table: str) -> Cluster:
        where = f"region=us-east-1&endpoint={self.endpoint}"
        stores = {
            "SAMSA_LEDGER": f"dynamodb://{table}?{where}",
            "SAMSA_OBJECTS": f"s3://{self.bucket.name}?{where}",
        }
        return Cluster(stores, self._pushes)

    def items(self, table: str) -> list[dict[str, Any]]:
        pages = self._dynamodb.get_paginator("scan").paginate(TableName=table)
        return [item for page in pages for item in page["Items"]]

    def restore(self, items: list[dict[str, Any]], cluster: Cluster) -> None:
        """What DynamoDB does by itself: a new table, with the items of that time."""
        ledger: DynamoLedger = cluster.first._parts.ledger
        cluster.first._loop.run_until_complete(ledger.create_table())
        for item in items:
            self._dynamodb.put_item(TableName=ledger.table.name, Item=item)


@pytest.fixture
def account(moto: str) -> Iterator[Account]:
    with serving_pushes() as pushes:
        yield Account(moto, pushes)


def tidy(cluster: Cluster) -> None:
    """Merge what lies apart, and sweep what was merged."""
    for _ in range(4):
        cluster.clock.ahead_ms += 2 * MINUTE_MS
        cluster.first._loop.run_until_complete(tend(cluster.first._parts.broker))


def wait_for(second: int) -> None:
    assert eventually(lambda: time.time() > second, 10)


def test_what_a_restored_index_names_is_there_and_what_came_later_is_not_in_its_way(
    account: Account,
):
    cluster = account.cluster(f"samsa-{uuid4()}")
    client = cluster.client()
    create(client)
    before: list[bytes | None] = [b"%d" % number + LARGE for number in range(RECORDS)]
    before += [b"small %d" % number for number in range(RECORDS)]
    for value in before:
        assert value is not None
        write(client, value)
    then = int(time.time()) + 1
    wait_for(then)
    items = account.items(cluster.first._parts.ledger.table.name)
    tidy(cluster)
    assert len(account.bucket.versions()["DeleteMarkers"]) >= RECORDS  # all objects were swept
    wait_for(then + 2)
    for number in range(3):
        write(client, b"after %d" % number)

    restored = account.cluster(f"samsa-{uuid4()}")
    account.restore(items, restored)
    assert not isinstance(look(restored.client(), 0), Reply)  # what the index names was swept
    account.bucket.go_back(then)
    client = restored.client(restored.another())
    assert read_all(client) == before
    assert write(client, b"anew") == len(before)
    assert read_all(client) == [*before, b"anew"]
    tidy(restored)
    assert read_all(client) == [*before, b"anew"]
