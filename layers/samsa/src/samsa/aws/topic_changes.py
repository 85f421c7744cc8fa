"""Changing a topic: the heads of new partitions first, then its item in one compare-and-swap."""

from samsa.aws.calls import counted
from samsa.aws.errors import ConditionFailed
from samsa.aws.head_items import new_head
from samsa.aws.items import Item, head_key, name_key, string, topic_attributes
from samsa.aws.topics import TopicCalls, partitions_of
from samsa.ports import Partition, Topic

HEADS_AT_ONCE = 25
"""Heads in one transaction. It may have 100 parts, but a shorter one is done sooner."""


class TopicChanges(TopicCalls):
    @counted
    async def change_topic(self, old: Topic, new: Topic) -> bool:
        added = partitions_of(new)[old.partitions :]
        try:
            for start in range(0, len(added), HEADS_AT_ONCE):
                await self._add_heads(old, added[start : start + HEADS_AT_ONCE])
            await self._replace(old, new)
        except ConditionFailed:
            return await self._topic(old.name) == new
        return True

    async def _add_heads(self, topic: Topic, partitions: list[Partition]) -> None:
        # Only while the topic exists: heads added after its deletion would never be removed. In
        # order, so that `forget_topic` also finds heads above the committed count.
        alive = {"id": string(str(topic.id))}
        await self.table.transact(
            [
                self._conditional("ConditionCheck", name_key(topic.name), alive),
                *map(self._make_head, partitions),
            ]
        )

    def _make_head(self, partition: Partition) -> Item:
        """Unless it exists: a process that stopped half-way may have made some of them."""
        new = {n: v for n, v in new_head(partition).items() if n not in ("pk", "sk")}
        return {
            "Update": {
                "TableName": self.table.name,
                "Key": head_key(partition),
                "UpdateExpression": "SET "
                + ", ".join(f"{name} = if_not_exists({name}, :{name})" for name in new),
                "ExpressionAttributeValues": {f":{name}": value for name, value in new.items()},
            }
        }

    async def _replace(self, old: Topic, new: Topic) -> None:
        was, becomes = topic_attributes(old), topic_attributes(new)
        await self.table.call(
            "update_item",
            Key=name_key(old.name),
            UpdateExpression="SET #partitions = :partitions, #configs = :configs",
            ConditionExpression="#id = :id AND #partitions = :was AND #configs = :were",
            ExpressionAttributeNames={f"#{name}": name for name in ("id", "partitions", "configs")},
            ExpressionAttributeValues={
                ":id": was["id"],
                ":was": was["partitions"],
                ":were": was["configs"],
                ":partitions": becomes["partitions"],
                ":configs": becomes["configs"],
            },
        )
