"""What the DynamoDB ledger makes of a DynamoDB that fails, and of answers that get lost."""

from collections.abc import AsyncIterator

import pytest
from functional.given import DAY_MS, a_partition, a_topic, an_extent
from support.servers.faults import (
    Fault,
    FaultyProxy,
    answer,
    dynamodb_error,
    leave_the_batch,
    lose_the_answer,
    stay_silent,
)

from samsa.aws.client import Patience
from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.errors import BadRequest
from samsa.ports import Bound, Misconfigured, Partition, Unavailable

ONE_TRY = Patience(connect_s=10, read_s=10, tries=1)


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
    """A ledger whose SDK tries again."""
    ledger = await ledger_behind(proxy, "stubborn", Patience(tries=3))
    yield ledger
    await ledger.close()


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(answer(500), id="500"),
        pytest.param(answer(503, b"<html>try later</html>"), id="503 from a proxy"),
        pytest.param(answer(200, b"<html>welcome"), id="nonsense"),
        pytest.param(answer(200, b"{}", content_length="9"), id="half an answer"),
        pytest.param(lose_the_answer, id="a reset"),
        pytest.param(dynamodb_error("ThrottlingException"), id="throttled"),
        pytest.param(dynamodb_error("ProvisionedThroughputExceededException"), id="too hot"),
        pytest.param(dynamodb_error("RequestLimitExceeded"), id="over the limit"),
        pytest.param(dynamodb_error("TransactionConflictException"), id="conflict"),
        pytest.param(dynamodb_error("InternalServerError", 500), id="internal"),
    ],
)
@pytest.mark.parametrize("method", ["head", "reserve"])
async def test_a_store_that_may_recover_is_unavailable(
    hasty: DynamoLedger, proxy: FaultyProxy, fault: Fault, method: str
):
    partition = await a_partition(hasty, f"letters-{id(fault)}-{method}")
    proxy.faults = [fault]
    arguments = () if method == "head" else ("token", 1)
    with pytest.raises(Unavailable):
        await getattr(hasty, method)(partition, *arguments)
    assert (await hasty.reserve(partition, "token", 1)).next_offset == 1


@pytest.mark.parametrize("method", ["head", "reserve"])
async def test_a_store_that_stays_silent_is_unavailable(
    hasty: DynamoLedger, proxy: FaultyProxy, method: str
):
    partition = await a_partition(hasty, f"silence-{method}")
    curt = DynamoLedger("faults-hasty", proxy.url, patience=Patience(read_s=0.5, tries=1))
    proxy.faults = [stay_silent]
    arguments = () if method == "head" else ("token", 1)
    with pytest.raises(Unavailable, match="TimeoutError"):
        await getattr(curt, method)(partition, *arguments)
    await curt.close()
    assert (await hasty.reserve(partition, "token", 1)).next_offset == 1


async def test_a_dead_endpoint_is_unavailable(dead_endpoint: str):
    ledger = DynamoLedger("samsa", dead_endpoint, patience=Patience(tries=2))
    with pytest.raises(Unavailable):
        await ledger.topics()
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
    with pytest.raises(Misconfigured, match="ResourceNotFound"):
        await ledger.reserve(Partition(a_topic().id, 0), "token", 1)
    await ledger.close()


async def test_a_reserve_whose_answer_is_lost_takes_one_slot(
    stubborn: DynamoLedger, proxy: FaultyProxy
):
    partition = await a_partition(stubborn, "reserve")
    proxy.faults = [lose_the_answer, lose_the_answer]
    head = await stubborn.reserve(partition, "token", 10)
    assert (head.next_offset, head.inflight) == (10, {"token": 0})


async def test_a_confirm_whose_answer_is_lost_says_that_the_slot_was_closed(
    stubborn: DynamoLedger, proxy: FaultyProxy
):
    partition = await a_partition(stubborn, "confirm")
    await stubborn.reserve(partition, "token", 10)
    proxy.faults = [lose_the_answer]
    confirmed = await stubborn.confirm(partition, "token", an_extent(0, 10))
    assert not confirmed.was_open
    assert confirmed.head.visible_end == 10


async def test_a_confirm_that_stops_after_its_first_step_leaves_a_closed_slot(
    hasty: DynamoLedger, proxy: FaultyProxy
):
    partition = await a_partition(hasty, "half")
    await hasty.reserve(partition, "token", 10)
    passes: Fault = lambda request, forward: forward(request)  # noqa: E731
    proxy.faults = [passes, answer(500)]
    with pytest.raises(Unavailable):
        await hasty.confirm(partition, "token", an_extent(0, 10))
    assert (await hasty.head(partition)).inflight == {}
    assert await hasty.extents(partition, 0, 9) == []
    assert not (await hasty.confirm(partition, "token", an_extent(0, 10))).was_open


async def test_a_bind_whose_answer_is_lost_succeeds(stubborn: DynamoLedger, proxy: FaultyProxy):
    partition = await a_partition(stubborn, "bind")
    for after in (0, 1):
        proxy.faults = [lose_the_answer]
        assert await stubborn.bind(partition, 1, b"state", after, DAY_MS)
    assert await stubborn.producer(partition, 1) == Bound(2, b"state")


async def test_a_topic_whose_creation_got_no_answer_is_created(
    stubborn: DynamoLedger, proxy: FaultyProxy
):
    topic = a_topic("create", 3)
    proxy.faults = [lose_the_answer, lambda request, forward: forward(request), lose_the_answer]
    assert await stubborn.create_topic(topic)
    assert await stubborn.topic("create") == topic
    assert (await stubborn.head(Partition(topic.id, 2))).next_offset == 0


async def test_items_that_a_batch_left_are_sent_again(hasty: DynamoLedger, proxy: FaultyProxy):
    partition = await a_partition(hasty, "batch")
    for base in range(30):
        await hasty.index(partition, an_extent(base))
    proxy.faults = [lambda request, forward: forward(request), leave_the_batch, leave_the_batch]
    assert await hasty.drop_extents(partition, 30) == 30
    assert await hasty.extents(partition, 0, 99) == []
