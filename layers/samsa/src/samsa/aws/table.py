"""One DynamoDB table, and the requests that a ledger sends to it."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import cache
from typing import Any
from uuid import uuid4  # noqa: TID251  (it names one request, and decides nothing)

from samsa.aws.client import DynamoClient
from samsa.aws.items import Item, string
from samsa.ports import Unavailable

BATCH = 25
"""The most writes in one BatchWriteItem of DynamoDB."""
TRANSACTION = 100
"""The most writes in one transaction of DynamoDB."""
BATCH_TRIES = 7


class Table:
    """`requests` counts the requests to DynamoDB by operation, without the client's retries."""

    def __init__(self, name: str, client: DynamoClient) -> None:
        self.name = name
        self.requests: dict[str, int] = defaultdict(int)
        self.metering = False
        """Whether to ask for the consumed capacity of each request: for benchmarks and tests."""
        self.units: dict[str, float] = defaultdict(float)
        """Capacity units by operation, while metering; without requests that were refused."""
        self._client = client

    async def send(self, method: str, repeatable: bool = True, **parameters: Any) -> Item:
        """See `DynamoClient.send`."""
        operation = operation_of(method)
        self.requests[operation] += 1
        if self.metering:
            parameters["ReturnConsumedCapacity"] = "TOTAL"
        answer = await self._client.send(operation, parameters, repeatable)
        if self.metering:
            self.units[operation] += _units(answer)
        return answer

    async def call(self, method: str, **parameters: Any) -> Item:
        return await self.send(method, TableName=self.name, **parameters)

    async def get(self, key: Item) -> Item | None:
        answer = await self.call("get_item", Key=key, ConsistentRead=True)
        return answer.get("Item")

    async def put_if(self, item: Item, condition: str, **parameters: Any) -> None:
        """Raises ConditionFailed with the existing item."""
        await self.call(
            "put_item",
            Item=item,
            ConditionExpression=condition,
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
            **parameters,
        )

    async def pages(
        self, pk: str, first: str, last: str, **parameters: Any
    ) -> AsyncGenerator[list[Item], None]:
        """Items of `pk` with first ≤ sk ≤ last, in order, as many at a time as DynamoDB gives."""
        values = {":pk": string(pk), ":first": string(first), ":last": string(last)}
        values |= parameters.pop("ExpressionAttributeValues", {})
        while True:
            page = await self.call(
                "query",
                KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
                ExpressionAttributeValues=values,
                ConsistentRead=True,
                **parameters,
            )
            yield page["Items"]
            if "LastEvaluatedKey" not in page:
                return
            parameters["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    async def first_items(
        self, count: int, pk: str, first: str, last: str, **parameters: Any
    ) -> list[Item]:
        found: list[Item] = []
        async with aclosing(self.pages(pk, first, last, **parameters)) as pages:
            async for page in pages:
                found += page
                if len(found) >= count:
                    break
        return found[:count]

    async def items(self, pk: str, first: str, last: str, **parameters: Any) -> list[Item]:
        return [item async for page in self.pages(pk, first, last, **parameters) for item in page]

    async def transact(self, writes: Sequence[Item]) -> None:
        """All or nothing; raises ConditionFailed. Its token makes a retry of it idempotent."""
        token = str(uuid4())
        await self.send("transact_write_items", TransactItems=writes, ClientRequestToken=token)

    async def delete_all(self, keys: Sequence[Item]) -> None:
        for start in range(0, len(keys), BATCH):
            await self._delete_batch(keys[start : start + BATCH])

    async def _delete_batch(self, keys: Sequence[Item]) -> None:
        left: list[Item] = [{"DeleteRequest": {"Key": key}} for key in keys]
        for attempt in range(BATCH_TRIES):
            answer = await self.send("batch_write_item", RequestItems={self.name: left})
            left = answer.get("UnprocessedItems", {}).get(self.name, [])
            if not left:
                return
            await asyncio.sleep(0.05 * 2**attempt)
        raise Unavailable(f"DynamoDB BatchWriteItem: {len(left)} of {len(keys)} not taken")


def _units(answer: Item) -> float:
    consumed = answer.get("ConsumedCapacity", [])
    each = consumed if isinstance(consumed, list) else [consumed]
    return float(sum(one.get("CapacityUnits", 0) for one in each))


@cache
def operation_of(method: str) -> str:
    """`update_item` is DynamoDB's UpdateItem."""
    return method.title().replace("_", "")
