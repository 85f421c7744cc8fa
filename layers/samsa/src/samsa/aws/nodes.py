"""The cluster's processes in DynamoDB: one item for each, renewed by a conditional put.

DynamoDB's TTL only removes items that were not renewed for an hour. The processes that read an item
decide whether its process lives (`server/roster.py`), some seconds after its last renewal.
"""

from contextlib import suppress

from samsa.aws.calls import TableCalls, counted
from samsa.aws.errors import ConditionFailed
from samsa.aws.items import Item, key, number, string
from samsa.ports import Node

PK = "NODES"
FORGOTTEN_AFTER_S = 3_600


def node_key(node_id: int) -> Item:
    return key(PK, f"{node_id:04d}")


def node_item(node: Node) -> Item:
    return {
        **node_key(node.id),
        "owner": string(node.owner),
        "version": number(node.version),
        "host": string(node.host),
        "port": number(node.port),
        "zone": string(node.zone),
        "machine": string(node.machine),
        "renewed_at": number(node.renewed_at),
        "expires": number(node.renewed_at // 1000 + FORGOTTEN_AFTER_S),
    }


def read_node(item: Item) -> Node:
    return Node(
        id=int(item["sk"]["S"]),
        owner=item["owner"]["S"],
        version=int(item["version"]["N"]),
        host=item["host"]["S"],
        port=int(item["port"]["N"]),
        zone=item["zone"]["S"],
        machine=item["machine"]["S"],
        renewed_at=int(item["renewed_at"]["N"]),
    )


class NodeCalls(TableCalls):
    @counted
    async def nodes(self) -> list[Node]:
        return [read_node(item) for item in await self.table.items(PK, "0", "9" * 4)]

    @counted
    async def put_node(self, node: Node, after: Node | None) -> bool:
        try:
            if after is None:
                await self.table.put_if(node_item(node), "attribute_not_exists(pk)")
            else:
                await self.table.put_if(
                    node_item(node),
                    "#owner = :owner AND #version = :version",
                    ExpressionAttributeNames={"#owner": "owner", "#version": "version"},
                    ExpressionAttributeValues={
                        ":owner": string(after.owner),
                        ":version": number(after.version),
                    },
                )
        except ConditionFailed as failed:
            return failed.old is not None and read_node(failed.old) == node
        return True

    @counted
    async def remove_node(self, node: Node) -> None:
        with suppress(ConditionFailed):
            await self.table.call(
                "delete_item",
                Key=node_key(node.id),
                ConditionExpression="#owner = :owner",
                ExpressionAttributeNames={"#owner": "owner"},
                ExpressionAttributeValues={":owner": string(node.owner)},
            )
