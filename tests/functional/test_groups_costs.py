"""What a group asks of DynamoDB, pinned: each request is paid for."""

from collections import Counter
from collections.abc import AsyncIterator

import pytest
from functional.groups_given import NOW, committed

from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.dynamodb_groups import DynamoGroups
from samsa.ports import GroupItem

ONE = {("letters", 0): committed(1)}
CHUNK = {("letters", n): committed(1) for n in range(32)}
MANY = {(f"topic-{n}", n): committed(1) for n in range(99)}


@pytest.fixture
async def groups(moto: str) -> AsyncIterator[DynamoGroups]:
    ledger = DynamoLedger("group-costs", moto)
    await ledger.create_table()
    yield DynamoGroups(ledger.table)
    await ledger.close()


async def cost(groups: DynamoGroups, method: str, *arguments: object) -> Counter[str]:
    before = Counter(groups.table.requests)
    await getattr(groups, method)(*arguments)
    return Counter(groups.table.requests) - before


@pytest.mark.parametrize(
    ("method", "arguments", "requests"),
    [
        ("group", (), {"GetItem": 1}),
        ("put_group", (GroupItem(2, b"state"), 1), {"PutItem": 1}),
        ("commit", (1, ONE), {"UpdateItem": 1}),
        ("commit", (1, CHUNK), {"UpdateItem": 1}),
        ("commit", (1, MANY), {"TransactWriteItems": 1}),
        ("commit", (-1, ONE), {"UpdateItem": 1}),
        ("offsets", (NOW,), {"Query": 1}),
        ("delete_group", (1,), {"Query": 1, "TransactWriteItems": 1}),
        ("forget_group", (1, NOW), {"GetItem": 1, "Query": 1}),
    ],
)
async def test_a_call_costs_what_it_is_said_to(
    groups: DynamoGroups,
    request: pytest.FixtureRequest,
    method: str,
    arguments: tuple[object, ...],
    requests: dict[str, int],
):
    group = request.node.name
    await groups.put_group(group, GroupItem(1, b"state"), 0)
    await groups.commit(group, 1, ONE)
    assert await cost(groups, method, group, *arguments) == requests


async def test_only_the_first_commit_of_no_member_costs_a_second_write(groups: DynamoGroups):
    first = await cost(groups, "commit", "strangers", -1, ONE)
    assert first == {"UpdateItem": 1, "TransactWriteItems": 1}
    assert await cost(groups, "commit", "strangers", -1, ONE) == {"UpdateItem": 1}
