"""Create the ledger's table if no deployment has: billed on demand, with TTL on `expires`."""

import asyncio

from samsa.aws.client import DynamoClient
from samsa.aws.errors import BadRequest
from samsa.aws.items import Item
from samsa.ports import Misconfigured, Unavailable

LOOKS = 60
FORGETS = ("ENABLED", "ENABLING")


async def create_table(client: DynamoClient, name: str) -> None:
    try:
        await client.send("CreateTable", _table(name))
    except BadRequest as error:
        if error.code != "ResourceInUseException":
            raise
    await _until_active(client, name)
    await _forget_expired_items(client, name)


def _table(name: str) -> Item:
    keys = {"pk": "HASH", "sk": "RANGE"}
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": k, "AttributeType": "S"} for k in keys],
        "KeySchema": [{"AttributeName": k, "KeyType": kind} for k, kind in keys.items()],
    }


async def _until_active(client: DynamoClient, name: str) -> None:
    for _ in range(LOOKS):
        try:
            described = await client.send("DescribeTable", {"TableName": name})
        except Misconfigured:
            described = {"Table": {}}  # just created, and not visible everywhere yet
        if described["Table"].get("TableStatus") == "ACTIVE":
            return
        await asyncio.sleep(1)
    raise Unavailable(f"DynamoDB CreateTable: {name} is not there after {LOOKS} s")


async def _forget_expired_items(client: DynamoClient, name: str) -> None:
    answer = await client.send("DescribeTimeToLive", {"TableName": name})
    if answer["TimeToLiveDescription"]["TimeToLiveStatus"] in FORGETS:
        return
    rule = {"Enabled": True, "AttributeName": "expires"}
    try:
        await client.send("UpdateTimeToLive", {"TableName": name, "TimeToLiveSpecification": rule})
    except BadRequest as error:
        if "already enabled" not in str(error):  # by another process, at the same time
            raise
