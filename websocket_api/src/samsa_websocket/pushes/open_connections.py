"""Connections of API Gateway's WebSocket, in the ledger's table.

| pk     | sk         | what                                                                   |
|--------|------------|------------------------------------------------------------------------|
| C#{id} | CONNECTION | where its client reached the shim and comes from; the IAM principal that |
|        |            | signed its handshake, and its address; where it is pushed to; what it   |
|        |            | has watched                                                             |

An item expires 15 minutes after the 2 hours that API Gateway allows a connection: $disconnect is
not always delivered.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple
from uuid import UUID

from samsa.aws.calls import TableCalls, counted
from samsa.aws.errors import ConditionFailed
from samsa.aws.items import Item, key, number, string
from samsa.ports import Partition
from samsa.ports.bounds import MOST_WATCHED

LIFE_S = 2 * 3600 + 900


class OpenConnection(NamedTuple):
    host: str
    port: int
    client: str
    principal: str = ""
    """The ARN that signed the handshake; empty if no signature is required."""
    pushed_at: str = ""
    """The URL of the stage's @connections."""
    source: str | None = None
    """The address that API Gateway saw: that of the shim, or of what is in front of it. None for an
    item of an older version."""


class OpenConnections(TableCalls):
    """Over the table of a DynamoLedger, whose client it shares."""

    @counted
    async def open(self, connection_id: str, connection: OpenConnection, now_ms: int) -> None:
        item = {
            **_key(connection_id),
            "host": string(connection.host),
            "port": number(connection.port),
            "client": string(connection.client),
            "principal": string(connection.principal),
            "pushed_at": string(connection.pushed_at),
            "expires": number(now_ms // 1000 + LIFE_S),
        }
        if connection.source is not None:
            item["source"] = string(connection.source)
        await self.table.call("put_item", Item=item)

    @counted
    async def look_up(self, connection_id: str) -> OpenConnection | None:
        item = await self.table.get(_key(connection_id))
        if item is None:
            return None
        return OpenConnection(
            item["host"]["S"],
            int(item["port"]["N"]),
            item["client"]["S"],
            # Items of older versions have none of these.
            item.get("principal", {}).get("S", ""),
            item.get("pushed_at", {}).get("S", ""),
            item.get("source", {}).get("S"),
        )

    @counted
    async def watches(self, connection_id: str, partitions: Iterable[Partition]) -> None:
        """Store the partitions from which to remove it later. Not for a connection that has closed:
        the item would stay for ever. What is too much for an item is not stored: such a watch
        expires by itself."""
        names = sorted(map(str, partitions))[:MOST_WATCHED]
        with suppress(ConditionFailed):
            await self.table.call(
                "update_item",
                Key=_key(connection_id),
                UpdateExpression="ADD watched :partitions",
                ConditionExpression="attribute_exists(pk) AND "
                "(attribute_not_exists(watched) OR size(watched) < :most)",
                ExpressionAttributeValues={
                    ":partitions": {"SS": names},
                    ":most": number(MOST_WATCHED),
                },
            )

    @counted
    async def close_one(self, connection_id: str) -> list[Partition]:
        """Remove it. Returns the partitions that it watched."""
        answer = await self.table.call(
            "delete_item", Key=_key(connection_id), ReturnValues="ALL_OLD"
        )
        names = answer.get("Attributes", {}).get("watched", {}).get("SS", [])
        return [_partition(name) for name in names]


def _key(connection_id: str) -> Item:
    return key(f"C#{connection_id}", "CONNECTION")


def _partition(name: str) -> Partition:
    topic_id, _, number_ = name.rpartition("/")
    return Partition(UUID(topic_id), int(number_))
