"""The DynamoDB ledger: one table, on demand, every read strongly consistent.

An append is three writes (reserve, confirm, its extent), an idempotent producer's one more. Each is
conditional, so the SDK may repeat any of them without harm.
"""

import asyncio
from contextlib import suppress
from typing import Any

from samsa.aws.client import Patience, dynamodb_client, refuse_torn_answers
from samsa.aws.errors import named_errors
from samsa.aws.extents import ExtentCalls
from samsa.aws.heads import HeadCalls
from samsa.aws.producers import ProducerCalls
from samsa.aws.table import Table
from samsa.aws.topic_changes import TopicChanges

THREADS = 32


class DynamoLedger(HeadCalls, ExtentCalls, ProducerCalls, TopicChanges):
    def __init__(
        self,
        table: str,
        endpoint: str | None = None,
        region: str | None = None,
        client: Any = None,
        patience: Patience | None = None,
    ) -> None:
        self._owns_client = client is None
        self._client = client or dynamodb_client(endpoint, region, THREADS, patience or Patience())
        refuse_torn_answers(self._client)
        super().__init__(Table(table, self._client, THREADS))

    @property
    def requests(self) -> dict[str, int]:
        """Requests to DynamoDB by operation, without the SDK's own retries."""
        return self.table.requests

    async def create_table(self) -> None:
        """Make the table unless it is there, and wait until it can be used."""

        def create() -> None:
            with named_errors("CreateTable"):
                create_table(self._client, self.table.name)

        await asyncio.to_thread(create)

    async def close(self) -> None:
        await self.table.close()
        if self._owns_client:
            self._client.close()


def create_table(client: Any, name: str) -> None:
    with suppress(client.exceptions.ResourceInUseException):
        client.create_table(
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "S"},
            ],
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
        )
    client.get_waiter("table_exists").wait(
        TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 60}
    )
    forget_expired_items(client, name)


def forget_expired_items(client: Any, name: str) -> None:
    now = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    if now["TimeToLiveStatus"] not in ("ENABLED", "ENABLING"):
        client.update_time_to_live(
            TableName=name,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"},
        )
