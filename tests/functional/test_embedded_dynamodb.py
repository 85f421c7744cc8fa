"""The embedded table answers as Amazon's own DynamoDB does, also where Samsa asks for nonsense."""

from typing import Any
from uuid import uuid4

import pytest
from functional.conftest import shared_client

from samsa.aws.errors import BadRequest, ConditionFailed
from samsa.aws.new_table import create_table

KEY = {"pk": {"S": "p"}, "sk": {"S": "s"}}
ITEM = {
    **KEY,
    "count": {"N": "7"},
    "text": {"S": "straße"},
    "bytes": {"B": "AAEC/w=="},
    "map": {"M": {"inside": {"N": "1"}, "deep": {"M": {"er": {"S": "x"}}}, "hollow": {"M": {}}}},
    "list": {"L": [{"N": "1"}, {"S": "two"}]},
    "words": {"SS": ["a", "b"]},
    "yes": {"BOOL": True},
}
VALUES = {
    ":n": {"N": "7"},
    ":same": {"N": "7.0"},
    ":more": {"N": "10"},
    ":less": {"N": "-0.5"},
    ":s": {"S": "straße"},
    ":t": {"S": "str"},
    ":b": {"B": "AAEC/w=="},
    ":map": {"M": {"er": {"S": "x"}}},
    ":set": {"SS": ["b", "a"]},
    ":c": {"SS": ["b", "c"]},
    ":e": {"M": {}},
    ":yes": {"BOOL": True},
}
CONDITIONS = [
    "attribute_exists(pk)",
    "attribute_not_exists(pk)",
    "attribute_not_exists(nothing)",
    "attribute_not_exists(nothing.deep)",
    "attribute_exists(#map.deep.er)",
    "attribute_exists(#list[1]) AND attribute_not_exists(#list[2])",
    "#count = :n",
    "#count = :same",
    "#count <> :n",
    "#count < :more AND #count > :less",
    "#count <= :n AND #count >= :n",
    "#count = :s",
    "#count < :s",
    "#count <> :s",
    "nothing = :n",
    "nothing <> :n",
    "nothing < :n",
    "#text = :s AND #bytes = :b AND yes = :yes",
    "begins_with(#text, :t)",
    "begins_with(#text, :s) AND NOT begins_with(pk, :t)",
    "contains(words, :t)",
    "contains(#text, :t)",
    "words = :set",
    "#map.deep = :map",
    "size(#map) > :n",
    "size(words) < :n",
    "size(#text) < :n",
    "size(#bytes) < :n",
    "size(nothing) < :n",
    "size(#count) < :n",
    "#count BETWEEN :less AND :more",
    "attribute_not_exists(pk) OR #count = :n AND #text = :t",
    "(attribute_not_exists(pk) OR #count = :n) AND #text = :s",
    "NOT (attribute_exists(pk) AND #count = :more)",
    ":n = #count",
]
UPDATES = [
    "SET #count = #count + :n",
    "SET #count = #count - :less",
    "SET fresh = #count, #count = :more",
    "SET fresh = if_not_exists(fresh, :n), #count = if_not_exists(#count, :more)",
    "SET #map.fresh = :s",
    "SET #map.hollow.fresh = #count, #map.inside = :more",
    "SET #map = :e",
    "SET fresh = :set REMOVE #text, #map.inside, nothing",
    "REMOVE #map.nothing",
    "SET #list[0] = :s",
    "REMOVE #list[0]",
    "ADD #count :more, fresh :less",
    "ADD words :c",
    "ADD fresh :set",
    "DELETE words :c",
    "DELETE words :set",
    "set #count = :more remove yes",
    "SET #count=:n,#text=:t",
    # Refused, and nothing changes.
    "SET nothing.inside = :n",
    "SET #text.inside = :n",
    "REMOVE nothing.inside",
    "SET fresh = nothing",
    "SET #count = #count + :s",
    "SET #count = :n, #count = :more",
    "SET #map.inside = :n REMOVE #map",
    "SET pk = :s",
    "ADD #text :n",
    "ADD #count :s",
    "SET #count = :n SET #text = :t",
    "SET",
    "SET #count",
    "SET #count = :nowhere",
    "SET #nowhere = :n",
    "FORGET #count",
]


async def a_table(client: Any) -> str:
    name = f"expressions-{uuid4()}"
    await create_table(client, name)
    return name


def named(text: str) -> dict[str, Any]:
    """The parameters that an expression needs; unused ones are refused."""
    words = set(text.replace(".", " ").replace("[", " ").replace("(", " ").replace(")", " ")
                .replace(",", " ").replace("=", " ").split())  # fmt: skip
    names = {word: word[1:] for word in words if word[0] == "#" and word[1:] in ITEM}
    values = {word: VALUES[word] for word in words if word in VALUES}
    found: dict[str, Any] = {}
    if names:
        found["ExpressionAttributeNames"] = names
    if values:
        found["ExpressionAttributeValues"] = values
    return found


async def outcome(client: Any, table: str, **asked: Any) -> Any:
    """What an update answers, and what the item is then."""
    await client.send("PutItem", {"TableName": table, "Item": ITEM})
    answer: Any
    try:
        answer = await client.send(
            "UpdateItem", {"TableName": table, "Key": KEY, "ReturnValues": "ALL_NEW", **asked}
        )
    except ConditionFailed as failed:
        answer = "condition failed", failed.old and _plain(failed.old)
    except BadRequest as refused:
        answer = refused.code
    found = await client.send("GetItem", {"TableName": table, "Key": KEY, "ConsistentRead": True})
    if isinstance(answer, dict):
        answer = _plain(answer["Attributes"])
    return answer, _plain(found["Item"])


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    """Sets have no order."""
    return {
        name: {"SS": sorted(value["SS"])} if "SS" in value else value
        for name, value in item.items()
    }


async def test_conditions_hold_where_those_of_dynamodb_hold(local_dynamodb: str, embedded: str):
    await compared(
        [
            {
                "ConditionExpression": text,
                "UpdateExpression": "SET done = if_not_exists(done, pk)",
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                **named(text),
            }
            for text in CONDITIONS
        ],
        local_dynamodb,
        embedded,
    )


async def test_updates_do_what_those_of_dynamodb_do(local_dynamodb: str, embedded: str):
    asked = [{"UpdateExpression": text, **named(text)} for text in UPDATES]
    await compared(asked, local_dynamodb, embedded)


async def test_what_is_not_used_or_too_long_is_refused_as_by_dynamodb(
    local_dynamodb: str, embedded: str
):
    update = "SET done = :n"
    await compared(
        [
            {"UpdateExpression": update, "ExpressionAttributeValues": {":n": {"N": "1"}, **more}}
            for more in ({}, {":unused": {"N": "1"}})
        ]
        + [
            {
                "UpdateExpression": update,
                "ExpressionAttributeValues": {":n": {"N": "1"}},
                "ExpressionAttributeNames": {"#unused": "text"},
            },
            {"UpdateExpression": f"REMOVE {'x' * 4_100}"},
            {
                "UpdateExpression": update,
                "ExpressionAttributeValues": {":n": {"S": "x" * 410_000}},
            },
        ],
        local_dynamodb,
        embedded,
    )


async def compared(asked: list[dict[str, Any]], local: str, embedded: str) -> None:
    theirs, ours = shared_client(local), shared_client(embedded)
    their_table, our_table = await a_table(theirs), await a_table(ours)
    different = {}
    for one in asked:
        wanted = await outcome(theirs, their_table, **one)
        found = await outcome(ours, our_table, **one)
        if found != wanted:
            text = one.get("ConditionExpression") or one["UpdateExpression"]
            different[text[:80]] = f"{found}, and DynamoDB: {wanted}"
    assert not different, "\n".join(f"{text}: {how}" for text, how in different.items())


async def test_a_transaction_is_done_once_for_each_token(local_dynamodb: str, embedded: str):
    for endpoint in (local_dynamodb, embedded):
        client = shared_client(endpoint)
        table = await a_table(client)
        add = {
            "Update": {
                "TableName": table,
                "Key": KEY,
                "UpdateExpression": "ADD hits :one",
                "ExpressionAttributeValues": {":one": {"N": "1"}},
            }
        }
        for token in ("a", "a", "b"):
            asked = {"TransactItems": [add], "ClientRequestToken": token}
            await client.send("TransactWriteItems", asked)
        found = await client.send("GetItem", {"TableName": table, "Key": KEY})
        assert found["Item"]["hits"] == {"N": "2"}, endpoint


async def test_a_transaction_that_fails_changes_nothing(local_dynamodb: str, embedded: str):
    for endpoint in (local_dynamodb, embedded):
        client = shared_client(endpoint)
        table = await a_table(client)
        other = {**KEY, "sk": {"S": "other"}}
        parts = [
            {"Put": {"TableName": table, "Item": KEY}},
            {
                "ConditionCheck": {
                    "TableName": table,
                    "Key": other,
                    "ConditionExpression": "attribute_exists(pk)",
                }
            },
        ]
        with pytest.raises(ConditionFailed):
            await client.send("TransactWriteItems", {"TransactItems": parts})
        assert await client.send("GetItem", {"TableName": table, "Key": KEY}) == {}, endpoint
        with pytest.raises(BadRequest, match="ValidationException"):
            await client.send("TransactWriteItems", {"TransactItems": [parts[0], parts[0]]})


@pytest.mark.parametrize("size", [10, 900, 5_000, 300_000])
async def test_units_are_those_that_dynamodb_meters(local_dynamodb: str, embedded: str, size: int):
    units = []
    for endpoint in (local_dynamodb, embedded):
        client = shared_client(endpoint)
        table = await a_table(client)
        item = {**KEY, "text": {"S": "x" * size}, "n": {"N": "12345"}}
        metered = {"TableName": table, "ReturnConsumedCapacity": "TOTAL"}
        answers = [
            await client.send("PutItem", {"Item": item, **metered}),
            await client.send("GetItem", {"Key": KEY, "ConsistentRead": True, **metered}),
            await client.send("GetItem", {"Key": KEY, **metered}),
            await client.send(
                "UpdateItem",
                {
                    "Key": KEY,
                    "UpdateExpression": "REMOVE #text",
                    "ExpressionAttributeNames": {"#text": "text"},
                    **metered,
                },
            ),
            await client.send("DeleteItem", {"Key": KEY, **metered}),
        ]
        units.append([answer["ConsumedCapacity"]["CapacityUnits"] for answer in answers])
    assert units[0] == units[1]
