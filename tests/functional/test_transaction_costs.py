"""What a transaction asks of DynamoDB, pinned: each request is paid for."""

from collections import Counter
from collections.abc import AsyncIterator

import pytest
from functional.given import a_partition
from functional.groups_given import NOW, committed

from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.dynamodb_groups import DynamoGroups
from samsa.aws.pending_offsets import IN_ONE_UPDATE
from samsa.ports import Aborted, Offsets, TransactionItem

SOON = NOW + 3_600_000
ONE = {("letters", 0): committed(1)}
CHUNKS = {("letters", n): committed(1) for n in range(IN_ONE_UPDATE)}
LARGE = {("letters", n): committed(1) for n in range(IN_ONE_UPDATE + 1)}


@pytest.fixture
async def ledger(moto: str) -> AsyncIterator[DynamoLedger]:
    ledger = DynamoLedger("transaction-costs", moto)
    await ledger.create_table()
    yield ledger
    await ledger.close()


@pytest.fixture
def store(ledger: DynamoLedger) -> DynamoGroups:
    return DynamoGroups(ledger.table)


async def cost(store: DynamoGroups, method: str, *arguments: object) -> Counter[str]:
    before = Counter(store.table.requests)
    await getattr(store, method)(*arguments)
    return Counter(store.table.requests) - before


def an_item(version: int, producer_id: int = 7, state: bytes = b"state") -> TransactionItem:
    return TransactionItem(version, producer_id, state)


@pytest.mark.parametrize(
    ("method", "arguments", "requests"),
    [
        ("transaction", (), {"GetItem": 1}),
        ("put_transaction", (an_item(2), 1), {"UpdateItem": 1}),
        ("put_transaction", (an_item(1), 0), {"TransactWriteItems": 1, "GetItem": 1}),  # repeated
        ("put_transaction", (an_item(9), 8), {"UpdateItem": 1}),  # refused
        ("put_transaction", (an_item(2, 8), 1), {"UpdateItem": 1, "TransactWriteItems": 1}),
        ("delete_transaction", (1,), {"GetItem": 1, "TransactWriteItems": 1}),
    ],
)
async def test_a_step_of_a_transaction_costs_what_it_is_said_to(
    store: DynamoGroups,
    request: pytest.FixtureRequest,
    method: str,
    arguments: tuple[object, ...],
    requests: dict[str, int],
):
    name = request.node.name
    assert await cost(store, "put_transaction", name, an_item(1), 0) == {"TransactWriteItems": 1}
    assert await cost(store, method, name, *arguments) == requests


async def test_pointers_are_kept_for_a_producer_id_and_the_one_before_it(store: DynamoGroups):
    async def pointed() -> list[int]:
        found = [await store.transactional_id_of(producer_id) for producer_id in range(4)]
        return [number for number, name in enumerate(found) if name == "turning"]

    seen = []
    for version in range(4):
        await store.put_transaction("turning", an_item(version + 1, version), version)
        seen.append(await pointed())
    assert seen == [[0], [0, 1], [1, 2], [2, 3]]
    assert await store.delete_transaction("turning", 4)
    assert await pointed() == []


@pytest.mark.parametrize(
    ("offsets", "added"),
    [
        (ONE, {"UpdateItem": 1}),
        (CHUNKS, {"UpdateItem": 1}),
        (LARGE, {"GetItem": 1, "PutItem": 1}),
    ],
)
async def test_offsets_that_join_a_transaction_are_one_write_and_so_is_its_end(
    store: DynamoGroups, request: pytest.FixtureRequest, offsets: Offsets, added: dict[str, int]
):
    group = request.node.name
    await store.add_pending(group, 7, 1, ONE, SOON)
    await store.end_pending(group, 7, 1, True, SOON)
    for serial, is_committed in ((2, True), (3, False)):
        for _ in range(2):
            assert await cost(store, "add_pending", group, 7, serial, offsets, SOON) == added
        end = await cost(store, "end_pending", group, 7, serial, is_committed, SOON)
        write = "TransactWriteItems" if is_committed else "PutItem"
        assert end == {"GetItem": 1, write: 1}
        assert await cost(store, "end_pending", group, 7, serial, True, SOON) == {"GetItem": 1}


async def test_only_the_first_offsets_of_a_producer_cost_more(store: DynamoGroups):
    first = await cost(store, "add_pending", "strangers", 7, 1, ONE, SOON)
    assert first == {"UpdateItem": 1, "GetItem": 1, "TransactWriteItems": 1}


async def test_to_list_what_waits_in_a_group_is_one_query(store: DynamoGroups):
    await store.add_pending("waiting", 7, 1, ONE, SOON)
    assert await cost(store, "pending", "waiting") == {"Query": 1}


async def test_aborted_transactions_are_one_query_however_many_follow(ledger: DynamoLedger):
    partition = await a_partition(ledger)
    for marker in range(1, 300):
        await ledger.store_aborted(partition, Aborted(marker, 7, marker - 1, marker))
    before = Counter(ledger.requests)
    found = await ledger.aborted(partition, 5, 9)
    assert [one.marker for one in found] == [5, 6, 7, 8, 9]
    assert Counter(ledger.requests) - before == {"Query": 1}
    assert len(await ledger.aborted(partition, 5, 290)) == 286
    assert Counter(ledger.requests) - before == {"Query": 4}


async def test_what_is_kept_after_the_end_expires_and_what_waits_does_not(
    store: DynamoGroups, request: pytest.FixtureRequest
):
    group = request.node.name
    seen = []
    for serial in (1, 2):
        await store.add_pending(group, 7, serial, ONE, SOON)
        seen.append([*await store._pending_items(group)])
        await store.end_pending(group, 7, serial, True, SOON + serial)
        seen.append([*await store._pending_items(group)])
    expires = [items[0].get("expires") for items in seen]
    assert expires == [None, {"N": str(SOON // 1000 + 1)}] * 2
