"""Idempotent producers: their ids, and the items of those that were evicted from a head."""

from contextlib import suppress

from samsa.aws.calls import TableCalls, counted
from samsa.aws.errors import ConditionFailed
from samsa.aws.head_items import read_open, read_producers
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
from samsa.ports.heads import HeadProducer


class ProducerCalls(TableCalls):
    async def producer_item(self, partition: Partition, producer_id: int) -> Bound | None:
        item = await self.table.get(producer_key(partition, producer_id))
        return read_producer(item) if item else None

    async def store_producer(
        self, partition: Partition, producer_id: int, producer: HeadProducer
    ) -> None:
        item = producer_item(partition, producer_id, producer.bound, producer.expires_at)
        with suppress(ConditionFailed):
            await self.table.put_if(
                item,
                "attribute_not_exists(pk) OR #version < :version",
                ExpressionAttributeNames={"#version": "version"},
                ExpressionAttributeValues={":version": item["version"]},
            )

    @counted
    async def producers(self, partition: Partition, now: int) -> dict[int, Bound]:
        # The head first: a producer that is evicted between the two reads has an item by then.
        head = await self._head_item(partition)
        in_head, opened = read_producers(head), read_open(head)
        items = await self.table.items(
            partition_pk(partition),
            "B#",
            "B$",
            FilterExpression="#expires > :now",
            ExpressionAttributeNames={"#expires": "expires"},
            ExpressionAttributeValues={":now": number(now // 1000)},
        )
        found = {read_producer_id(item): read_producer(item) for item in items}
        for producer_id, (bound, _, expires_at) in in_head.items():
            if producer_id in found and found[producer_id].version > bound.version:
                continue
            if expires_at > now or producer_id in opened:
                found[producer_id] = bound
            else:  # its own item is older, and was kept for a transaction that has ended
                found.pop(producer_id, None)
        return found

    @counted
    async def forget_producers(self, now_ms: int) -> int:  # noqa: ARG002
        """Does nothing: DynamoDB's TTL removes them."""
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
