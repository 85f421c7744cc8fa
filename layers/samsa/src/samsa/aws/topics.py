"""Topics. Creating one writes its heads before its name; deleting one removes its name first.

So a name never leads to a missing head.
"""

import asyncio
from contextlib import suppress
from uuid import UUID

from samsa.aws.calls import TableCalls, counted
from samsa.aws.errors import ConditionFailed
from samsa.aws.head_items import MADE_BY_OLDER, new_head
from samsa.aws.items import (
    LAST_EXTENT,
    Item,
    doom_key,
    head_key,
    id_key,
    key,
    key_of,
    name_key,
    number,
    partition_pk,
    read_topic,
    string,
    topic_attributes,
)
from samsa.aws.table import TRANSACTION
from samsa.ports import Misconfigured, Partition, Topic

FORMAT, BEFORE = number(3), number(2)
"""The format of the table, and the format before, which is upgraded as soon as a process starts on
it. After that no process of the older version can start: it would lose what heads say of aborted
transactions. Format 1 had open slots in its heads, and stored no number."""
AT_ONCE = 16
"""Partitions that are removed at the same time."""


class TopicCalls(TableCalls):
    @counted
    async def create_topic(self, topic: Topic) -> bool:
        partitions = partitions_of(topic)
        for start in range(0, len(partitions), TRANSACTION):
            await self._create_heads(partitions[start : start + TRANSACTION])
        try:
            await self.table.transact(self._naming(topic))
        except ConditionFailed:
            holder = await self._topic(topic.name)
            if holder is not None and holder.id == topic.id:
                return True
            await self.table.delete_all([head_key(partition) for partition in partitions])
            return False
        return True

    async def _create_heads(self, partitions: list[Partition]) -> None:
        # With a condition, and so not in a cheaper batch: a request that arrives twice or late must
        # not reset a head's next_offset to 0. Either all of these heads exist or none.
        with suppress(ConditionFailed):
            await self.table.transact([self._put_new(new_head(p)) for p in partitions])

    def _naming(self, topic: Topic) -> list[Item]:
        name_item = {**name_key(topic.name), **topic_attributes(topic)}
        id_item = {**id_key(topic.id), "name": string(topic.name)}
        return [self._put_new(name_item), self._put_new(id_item), self._not_doomed(topic)]

    def _not_doomed(self, topic: Topic) -> Item:
        """A create that is repeated after a delete must not name heads that will be removed."""
        return {
            "ConditionCheck": {
                "TableName": self.table.name,
                "Key": doom_key(topic.id),
                "ConditionExpression": "attribute_not_exists(pk)",
            }
        }

    def _put_new(self, item: Item) -> Item:
        return {
            "Put": {
                "TableName": self.table.name,
                "Item": item,
                "ConditionExpression": "attribute_not_exists(pk)",
            }
        }

    async def _topic(self, name: str) -> Topic | None:
        item = await self.table.get(name_key(name))
        return read_topic(item) if item else None

    @counted
    async def topic(self, name: str) -> Topic | None:
        return await self._topic(name)

    @counted
    async def topic_by_id(self, topic_id: UUID) -> Topic | None:
        item = await self.table.get(id_key(topic_id))
        topic = await self._topic(item["name"]["S"]) if item else None
        return topic if topic and topic.id == topic_id else None

    @counted
    async def topics(self) -> list[Topic]:
        return [read_topic(item) for item in await self.table.items("TOPICS", "N#", "N$")]

    @counted
    async def delete_topic(self, topic: Topic) -> bool:
        found: Topic | None = topic
        while found is not None and found.id == topic.id:
            try:
                await self.table.transact(self._dooming(found))
            except ConditionFailed:
                # It is gone, or has more partitions than known: the doomed topic must name all.
                known, found = found, await self._topic(topic.name)
                if found == known:
                    return False
            else:
                return True
        return False

    def _dooming(self, topic: Topic) -> list[Item]:
        attributes = topic_attributes(topic)
        own = {name: attributes[name] for name in ("id", "partitions")}
        doom = {**doom_key(topic.id), **attributes}
        return [
            self._conditional("Delete", name_key(topic.name), own),
            self._conditional("Delete", id_key(topic.id), {"name": string(topic.name)}),
            {"Put": {"TableName": self.table.name, "Item": doom}},
        ]

    def _conditional(self, what: str, key: Item, own: Item) -> Item:
        """A part of a transaction that holds only if the item has these attributes."""
        return {
            what: {
                "TableName": self.table.name,
                "Key": key,
                "ConditionExpression": " AND ".join(f"#{name} = :{name}" for name in own),
                "ExpressionAttributeNames": {f"#{name}": name for name in own},
                "ExpressionAttributeValues": {f":{name}": value for name, value in own.items()},
            }
        }

    @counted
    async def doomed_topics(self) -> list[Topic]:
        return [read_topic(item) for item in await self.table.items("DOOMED", "0", "g")]

    @counted
    async def forget_topic(self, topic: Topic) -> None:
        for partition in reversed(await self._uncounted(topic)):
            await self._forget_partition(partition)
        partitions = partitions_of(topic)
        for start in range(0, len(partitions), AT_ONCE):
            await asyncio.gather(*map(self._forget_partition, partitions[start : start + AT_ONCE]))
        await self.table.call("delete_item", Key=doom_key(topic.id))

    async def _uncounted(self, topic: Topic) -> list[Partition]:
        """Heads above the topic's count of partitions, left by a change that did not finish."""
        found: list[Partition] = []
        while True:
            partition = Partition(topic.id, topic.partitions + len(found))
            if await self.table.get(head_key(partition)) is None:
                return found
            found.append(partition)

    async def _forget_partition(self, partition: Partition) -> None:
        # The head first: without it nothing can be committed.
        await self.table.call("delete_item", Key=head_key(partition))
        items = await self.table.items(
            partition_pk(partition), "A#", LAST_EXTENT, ProjectionExpression="pk, sk"
        )
        await self.table.delete_all([key_of(item) for item in items])

    @counted
    async def cluster_id(self, proposed: str) -> str:
        """Raises Misconfigured if an older version made the table. Every start calls this."""
        try:
            answer = await self.table.call(
                "update_item",
                Key=key("CLUSTER", "ID"),
                UpdateExpression="SET #id = if_not_exists(#id, :proposed), #format = :format",
                ConditionExpression=(
                    "attribute_not_exists(#id) OR #format = :format OR #format = :before"
                ),
                ExpressionAttributeNames={"#id": "id", "#format": "format"},
                ExpressionAttributeValues={
                    ":proposed": string(proposed),
                    ":format": FORMAT,
                    ":before": BEFORE,
                },
                ReturnValues="ALL_NEW",
            )
        except ConditionFailed:
            raise Misconfigured(MADE_BY_OLDER) from None
        return str(answer["Attributes"]["id"]["S"])


def partitions_of(topic: Topic) -> list[Partition]:
    return [Partition(topic.id, number) for number in range(topic.partitions)]
