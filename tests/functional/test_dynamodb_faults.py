"""What the DynamoDB ledger makes of a DynamoDB that fails, and of answers that get lost."""

from collections.abc import AsyncIterator, Sequence

import pytest
from functional.given import DAY_MS, a_partition, a_topic, an_extent, an_update
from functional.groups_given import NOW, committed
from functional.journals import a_claim, a_journal, extents_of, put
from support.servers.faults import (
    Fault,
    FaultyProxy,
    Forward,
    Reply,
    Request,
    answer,
    dynamodb_error,
    leave_the_batch,
    lose_the_answer,
    stay_silent,
)

from samsa.aws.client import Patience
from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.dynamodb_groups import DynamoGroups
from samsa.aws.errors import BadRequest
from samsa.aws.items import Item
from samsa.ports import (
    Aborted,
    Bound,
    Misconfigured,
    NotDone,
    Partition,
    TransactionItem,
    Unavailable,
)
from samsa.ports.heads import HeadProducer

ONE_TRY = Patience(connect_s=10, read_s=10, tries=1)
passes: Fault = lambda request, forward: forward(request)  # noqa: E731


async def ledger_behind(proxy: FaultyProxy, name: str, patience: Patience) -> DynamoLedger:
    ledger = DynamoLedger(f"faults-{name}", proxy.url, patience=patience)
    await ledger.create_table()
    return ledger


@pytest.fixture
async def hasty(proxy: FaultyProxy) -> AsyncIterator[DynamoLedger]:
    """A ledger that tries once."""
    ledger = await ledger_behind(proxy, "hasty", ONE_TRY)
    yield ledger
    await ledger.close()


@pytest.fixture
async def stubborn(proxy: FaultyProxy) -> AsyncIterator[DynamoLedger]:
    """A ledger that tries again."""
    ledger = await ledger_behind(proxy, "stubborn", Patience(tries=3))
    yield ledger
    await ledger.close()


def operation_of(request: Request) -> str:
    headers = {name.lower(): value for name, value in request.headers.items()}
    return headers["x-amz-target"].rpartition(".")[2]


def sent(proxy: FaultyProxy) -> list[str]:
    """The operations that arrived at the proxy since the last time, in order."""
    requests, proxy.requests = proxy.requests, []
    return list(map(operation_of, requests))


def refuse_updates(request: Request, forward: Forward) -> Reply:
    return Reply(500) if operation_of(request) == "UpdateItem" else forward(request)


@pytest.mark.parametrize(
    ("fault", "certain"),
    [
        pytest.param(answer(500), False, id="500"),
        pytest.param(answer(503, b"<html>try later</html>"), False, id="503 from a proxy"),
        pytest.param(answer(200, b"<html>welcome"), False, id="nonsense"),
        pytest.param(answer(200, b"{}", content_length="9"), False, id="half an answer"),
        pytest.param(lose_the_answer, False, id="a reset"),
        pytest.param(dynamodb_error("InternalServerError", 500), False, id="internal"),
        pytest.param(dynamodb_error("ThrottlingException", 500), False, id="throttled by 500"),
        pytest.param(dynamodb_error("ThrottlingException"), True, id="throttled"),
        pytest.param(dynamodb_error("ProvisionedThroughputExceededException"), True, id="too hot"),
        pytest.param(dynamodb_error("RequestLimitExceeded"), True, id="over the limit"),
        pytest.param(dynamodb_error("TransactionConflictException"), True, id="conflict"),
    ],
)
@pytest.mark.parametrize("method", ["head", "update_head"])
async def test_a_store_that_may_recover_is_unavailable_and_says_if_it_certainly_did_nothing(
    hasty: DynamoLedger, proxy: FaultyProxy, fault: Fault, certain: bool, method: str
):
    partition = await a_partition(hasty, f"letters-{id(fault)}-{method}")
    proxy.faults = [fault]
    arguments = () if method == "head" else (an_update("one"),)
    with pytest.raises(Unavailable) as raised:
        await getattr(hasty, method)(partition, *arguments)
    assert isinstance(raised.value, NotDone) == certain
    state, _ = await hasty.update_head(partition, an_update("one"))
    assert state.head.next_offset == 1


@pytest.mark.parametrize("method", ["head", "update_head"])
async def test_a_store_that_stays_silent_is_unavailable(
    hasty: DynamoLedger, proxy: FaultyProxy, method: str
):
    partition = await a_partition(hasty, f"silence-{method}")
    curt = DynamoLedger("faults-hasty", proxy.url, patience=Patience(read_s=0.5, tries=1))
    proxy.faults = [stay_silent]
    arguments = () if method == "head" else (an_update("one"),)
    with pytest.raises(Unavailable, match="TimeoutError") as raised:
        await getattr(curt, method)(partition, *arguments)
    assert not isinstance(raised.value, NotDone)
    await curt.close()
    assert (await hasty.head(partition)).next_offset == 0


async def test_a_dead_endpoint_was_certainly_not_asked(dead_endpoint: str):
    ledger = DynamoLedger("samsa", dead_endpoint, patience=Patience(tries=2))
    with pytest.raises(NotDone):
        await ledger.topics()
    with pytest.raises(NotDone):
        await ledger.update_head(Partition(a_topic().id, 0), an_update("one"))
    with pytest.raises(Unavailable):
        await ledger.create_table()
    await ledger.close()


async def test_a_request_that_can_never_succeed_is_not_called_unavailable(
    hasty: DynamoLedger, proxy: FaultyProxy
):
    proxy.faults = [dynamodb_error("ValidationException")]
    with pytest.raises(BadRequest, match="ValidationException"):
        await hasty.topics()


async def test_a_refusal_for_want_of_permission_says_so(hasty: DynamoLedger, proxy: FaultyProxy):
    proxy.faults = [dynamodb_error("AccessDeniedException")]
    with pytest.raises(Misconfigured, match="AccessDeniedException"):
        await hasty.topics()


async def test_a_missing_table_is_not_an_unknown_partition(moto: str):
    ledger = DynamoLedger("nobody-made-it", moto, patience=ONE_TRY)
    partition = Partition(a_topic().id, 0)
    with pytest.raises(Misconfigured, match="ResourceNotFound"):
        await ledger.update_head(partition, an_update("one"))
    with pytest.raises(Misconfigured, match="ResourceNotFound"):
        await put(a_journal(ledger), partition)
    await ledger.close()


# Which requests are sent again by themselves


@pytest.mark.parametrize("fault", [lose_the_answer, answer(500), answer(200, b"<html>welcome")])
async def test_an_update_of_the_head_without_an_answer_is_never_sent_again_by_itself(
    stubborn: DynamoLedger, proxy: FaultyProxy, fault: Fault
):
    partition = await a_partition(stubborn, f"update-{id(fault)}")
    proxy.faults, proxy.requests = [fault], []
    with pytest.raises(Unavailable):
        await stubborn.update_head(partition, an_update("one"))
    assert sent(proxy) == ["UpdateItem"]
    done = fault is lose_the_answer
    assert (await stubborn.head(partition)).next_offset == done


async def test_an_update_of_the_head_that_was_throttled_is_sent_again(
    stubborn: DynamoLedger, proxy: FaultyProxy
):
    partition = await a_partition(stubborn, "throttled")
    proxy.faults, proxy.requests = [dynamodb_error("ThrottlingException")] * 2, []
    state, done = await stubborn.update_head(partition, an_update("one"))
    assert (state.head.next_offset, done) == (1, True)
    assert sent(proxy) == ["UpdateItem"] * 3


async def test_an_update_that_was_throttled_first_is_not_sent_again_once_its_answer_is_lost(
    stubborn: DynamoLedger, proxy: FaultyProxy
):
    partition = await a_partition(stubborn, "throttled-and-lost")
    proxy.faults = [dynamodb_error("ThrottlingException"), lose_the_answer]
    proxy.requests = []
    with pytest.raises(Unavailable) as raised:
        await stubborn.update_head(partition, an_update("one"))
    assert not isinstance(raised.value, NotDone)
    assert sent(proxy) == ["UpdateItem"] * 2


PRODUCER = HeadProducer(Bound(1, b"state", 0), 0, DAY_MS)


@pytest.mark.parametrize(
    ("method", "arguments", "operation"),
    [
        ("head_state", (), "GetItem"),
        ("take_out", ({"one": 0},), "UpdateItem"),
        ("count_sweep", (), "UpdateItem"),
        ("producer_item", (1,), "GetItem"),
        ("store_producer", (1, PRODUCER), "PutItem"),
        ("store_aborted", (Aborted(3, 7, 0, 4),), "PutItem"),
        ("aborted", (0, 9), "Query"),
        ("index", (an_extent(0),), "PutItem"),
        ("extents", (0, 9), "Query"),
    ],
)
async def test_any_other_call_of_a_commit_is_sent_again_until_it_is_answered(
    stubborn: DynamoLedger,
    proxy: FaultyProxy,
    method: str,
    arguments: tuple[object, ...],
    operation: str,
):
    partition = await a_partition(stubborn, f"again-{method}")
    await stubborn.update_head(partition, an_update("one"))
    proxy.faults, proxy.requests = [lose_the_answer, answer(500)], []
    await getattr(stubborn, method)(partition, *arguments)
    assert sent(proxy) == [operation] * 3


async def test_an_eviction_whose_answer_is_lost_is_counted_once(
    stubborn: DynamoLedger, proxy: FaultyProxy
):
    partition = await a_partition(stubborn, "eviction")
    journal = a_journal(stubborn)
    await put(journal, partition, claims=[a_claim(1), a_claim(2)])
    state = await stubborn.head_state(partition)
    gone = {1: state.producers[1]}
    proxy.faults = [lose_the_answer]
    state = await stubborn.evict(partition, gone)
    assert (set(state.producers), state.evictions) == ({2}, 1)


# What comes of appends


@pytest.mark.parametrize("data", [b"s" * 200, b"L" * 5_000])
async def test_an_append_whose_answer_is_lost_is_found_and_not_sent_again(
    stubborn: DynamoLedger, proxy: FaultyProxy, data: bytes
):
    partition = await a_partition(stubborn, f"append-{len(data)}")
    journal = a_journal(stubborn)
    await put(journal, partition)
    await journal.drain()
    proxy.faults, proxy.requests = [passes, lose_the_answer], []
    result = await put(journal, partition, data, [a_claim(1)])
    # Its producer's own item, the commit, and the count of a sweep, whose answer shows it.
    assert sent(proxy) == ["GetItem", "UpdateItem", "UpdateItem"]
    assert (result.base, result.head.next_offset) == (1, 2)
    assert await journal.producer(partition, 1) == Bound(1, b"state", 1)
    assert len(await extents_of(stubborn, partition)) == 2


async def test_an_append_that_never_arrived_starts_again_under_another_id(
    stubborn: DynamoLedger, proxy: FaultyProxy
):
    partition = await a_partition(stubborn, "never")
    journal = a_journal(stubborn)
    await journal.next_offset(partition)
    proxy.faults, proxy.requests = [answer(500)], []
    assert (await put(journal, partition)).base == 0
    assert sent(proxy) == ["UpdateItem", "UpdateItem", "Query", "UpdateItem"]
    state = await stubborn.head_state(partition)
    assert (len(state.head.tail), state.sweeps) == (1, 1)


async def test_settling_that_stops_half_way_hides_nothing_and_is_done_later(
    hasty: DynamoLedger, proxy: FaultyProxy
):
    partition = await a_partition(hasty, "half")
    journal = a_journal(hasty)
    await hasty.update_head(partition, an_update("one"))
    before = await extents_of(hasty, partition)
    proxy.faults = [refuse_updates] * 9
    with pytest.raises(Unavailable):
        await journal.settle(partition)
    proxy.faults = []
    assert len((await hasty.head(partition)).tail) == 1
    assert await hasty.extents(partition, 0, 9) == before == await extents_of(hasty, partition)
    await journal.settle(partition)
    assert (await hasty.head(partition)).tail == ()
    assert await extents_of(hasty, partition) == before


# Transactions


@pytest.fixture
def store(stubborn: DynamoLedger) -> DynamoGroups:
    return DynamoGroups(stubborn.table)


FIRST = TransactionItem(1, 1000, b"first")
OFFSETS = {("letters", n): committed(n) for n in range(40)}


@pytest.mark.parametrize("fault", [lose_the_answer, answer(500)])
@pytest.mark.parametrize(
    ("after", "item", "operations"),
    [
        (0, FIRST, ["TransactWriteItems"] * 2),
        (1, FIRST._replace(version=2), ["UpdateItem"] * 2),
        (
            1,
            FIRST._replace(version=2, producer_id=2000),
            ["UpdateItem", "UpdateItem", "TransactWriteItems"],
        ),
    ],
)
async def test_a_step_of_a_transaction_whose_answer_is_lost_is_found_to_be_done(
    store: DynamoGroups,
    proxy: FaultyProxy,
    fault: Fault,
    after: int,
    item: TransactionItem,
    operations: list[str],
):
    name = f"pay-{after}-{item.producer_id}-{id(fault)}"
    if after:
        await store.put_transaction(name, FIRST, 0)
    proxy.faults, proxy.requests = [fault], []
    assert await store.put_transaction(name, item, after) is None
    # moto knows no token of a transaction: it refuses the second one, and the item is read.
    asked = [operation for operation in sent(proxy) if after or operation != "GetItem"]
    assert asked == operations
    assert await store.transaction(name) == item
    assert await store.transactional_id_of(item.producer_id) == name


async def test_a_new_producer_id_whose_answer_is_lost_is_found_to_be_given(
    store: DynamoGroups, proxy: FaultyProxy
):
    await store.put_transaction("new-producer", FIRST, 0)
    new = TransactionItem(2, 3000, b"second")
    proxy.faults = [passes, lose_the_answer, answer(500)]
    assert await store.put_transaction("new-producer", new, 1) is None
    assert await store.transaction("new-producer") == new


@pytest.mark.parametrize("lost", range(3))
async def test_offsets_are_added_and_committed_once_whichever_answer_is_lost(
    store: DynamoGroups, proxy: FaultyProxy, lost: int
):
    group = f"family-{lost}"
    for serial in (1, 2):
        offsets = {where: one._replace(offset=serial) for where, one in OFFSETS.items()}
        proxy.faults = [passes] * lost + [lose_the_answer]
        assert await store.add_pending(group, 7, serial, offsets, NOW + DAY_MS)
        proxy.faults = [passes] * lost + [lose_the_answer]
        await store.end_pending(group, 7, serial, True, NOW + DAY_MS)
        proxy.faults = []
        assert await store.offsets(group, NOW) == offsets
        assert await store.pending(group) == []


async def test_who_ends_a_transaction_and_stops_half_way_leaves_the_rest_to_another(
    hasty: DynamoLedger, proxy: FaultyProxy
):
    """Over more topics than one transaction of DynamoDB writes."""
    store = DynamoGroups(hasty.table)
    offsets = {(f"topic-{n}", 0): committed(n) for n in range(150)}
    await store.add_pending("half", 7, 1, offsets, NOW + DAY_MS)
    proxy.faults = [passes, passes, answer(500)]
    with pytest.raises(Unavailable):
        await store.end_pending("half", 7, 1, True, NOW + DAY_MS)
    assert 0 < len(await store.offsets("half", NOW)) < 150
    assert len((await store.pending("half"))[0].offsets) == 150
    await store.end_pending("half", 7, 1, True, NOW + DAY_MS)
    assert len(await store.offsets("half", NOW)) == 150
    assert await store.pending("half") == []


@pytest.mark.parametrize("overtaken_before", [1, 2])
async def test_who_is_late_with_a_part_of_an_end_changes_nothing(
    hasty: DynamoLedger, overtaken_before: int
):
    """Another process has ended it, and the group has gone on since."""
    store, other = DynamoGroups(hasty.table), DynamoGroups(hasty.table)
    offsets = {(f"topic-{n}", 0): committed(n) for n in range(150)}
    newer = dict.fromkeys(offsets, committed(1_000))
    group = f"late-{overtaken_before}"
    await store.add_pending(group, 7, 1, offsets, NOW + DAY_MS)
    transact, parts = hasty.table.transact, []

    async def overtaken(writes: Sequence[Item]) -> None:
        parts.append(writes)
        if len(parts) == overtaken_before:
            hasty.table.transact = transact  # type: ignore[method-assign]
            await other.end_pending(group, 7, 1, True, NOW + DAY_MS)
            await other.commit(group, -1, newer)
        await transact(writes)

    hasty.table.transact = overtaken  # type: ignore[method-assign]
    await store.end_pending(group, 7, 1, True, NOW + DAY_MS)
    assert await store.offsets(group, NOW) == newer


async def test_a_topic_whose_creation_got_no_answer_is_created(
    stubborn: DynamoLedger, proxy: FaultyProxy
):
    topic = a_topic("create", 3)
    proxy.faults = [lose_the_answer, passes, lose_the_answer]
    assert await stubborn.create_topic(topic)
    assert await stubborn.topic("create") == topic
    assert (await stubborn.head(Partition(topic.id, 2))).next_offset == 0


async def test_items_that_a_batch_left_are_sent_again(hasty: DynamoLedger, proxy: FaultyProxy):
    partition = await a_partition(hasty, "batch")
    for base in range(30):
        await hasty.index(partition, an_extent(base))
    proxy.faults = [passes, passes, leave_the_batch, leave_the_batch]
    assert await hasty.drop_extents(partition, 30) == 30
    assert await hasty.extents(partition, 0, 99) == []
