"""Idempotent producers: one item each per partition, changed by compare-and-swap on its version."""

from typing import Any

from samsa.aws.calls import TableCalls, counted
from samsa.aws.errors import ConditionFailed
from samsa.aws.items import (
    key,
    number,
    partition_pk,
    producer_item,
    producer_key,
    read_producer,
    read_producer_id,
)
from samsa.ports import Bound, Partition


class ProducerCalls(TableCalls):
    @counted
    async def producer(self, partition: Partition, producer_id: int) -> Bound | None:
        item = await self.table.get(producer_key(partition, producer_id))
        return read_producer(item) if item else None

    @counted
    async def producers(self, partition: Partition, now: int) -> dict[int, Bound]:
        items = await self.table.items(
            partition_pk(partition),
            "B#",
            "B$",
            FilterExpression="#expires > :now",
            ExpressionAttributeNames={"#expires": "expires"},
            ExpressionAttributeValues={":now": number(now // 1000)},
        )
        return {read_producer_id(item): read_producer(item) for item in items}

    @counted
    async def bind(
        self, partition: Partition, producer_id: int, state: bytes, after: int, expires_at: int
    ) -> bool:
        bound = Bound(after + 1, state)
        item = producer_item(partition, producer_id, bound, expires_at)
        try:
            await self.table.put_if(item, **_version_is(after))
        except ConditionFailed as failed:
            # Our own write, if an earlier try went through and its answer was lost.
            return failed.old is not None and read_producer(failed.old) == bound
        return True

    @counted
    async def forget_producers(self, now_ms: int) -> int:  # noqa: ARG002
        """DynamoDB's time to live does."""
        return 0

    async def next_producer_ids(self, count: int) -> int:
        answer = await self.table.call(
            "update_item",
            Key=key("CLUSTER", "PRODUCERS"),
            UpdateExpression="ADD next_id :count",
            ExpressionAttributeValues={":count": number(count)},
            ReturnValues="UPDATED_NEW",
        )
        return int(answer["Attributes"]["next_id"]["N"]) - count


def _version_is(version: int) -> dict[str, Any]:
    if version == 0:
        return {"condition": "attribute_not_exists(pk)"}
    return {
        "condition": "#version = :version",
        "ExpressionAttributeNames": {"#version": "version"},
        "ExpressionAttributeValues": {":version": number(version)},
    }
