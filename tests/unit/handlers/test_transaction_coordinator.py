"""The shell of the transaction coordinator, in two processes that share their stores."""

import asyncio
from uuid import UUID

import pytest
from unit.handlers.transacting import ADDRESS, ID, TIMEOUT_MS, Process, processes
from unit.log.given import PARTITION, a_batch
from unit.log.transacting import committed

from samsa.broker.broker import Context
from samsa.handlers.k01_fetch import fetch as handle_fetch
from samsa.handlers.k02_list_offsets import list_offsets as handle_list_offsets
from samsa.ports import Partition, Topic, Unavailable
from samsa.transactions import (
    AddGroup,
    AddPartitions,
    EndTransaction,
    State,
    TransactionError,
    Verify,
)
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import fetch, list_offsets

OTHER = Partition(UUID(int=9), 0)


@pytest.fixture
async def two() -> list[Process]:
    return await processes()


async def state(one: Process) -> State:
    found = await one.broker.transactions.look(ID)
    assert found is not None
    return found.state


async def has_open(one: Process) -> bool:
    return bool((await one.given.log.head(PARTITION)).open_transactions)


async def test_a_transaction_is_committed_through_one_process_and_read_through_another(two):
    here, there = two
    producer = await here.init()
    assert await here.produce(producer, 0) is ErrorCode.NONE
    assert await committed(there.given) == []
    assert (await there.end(producer)).error is None
    assert await committed(there.given) == [b"0"]
    assert await state(here) is State.COMPLETE_COMMIT


async def test_a_transaction_that_is_known_costs_no_look_for_its_next_batch(two):
    here, _ = two
    producer = await here.init()
    await here.produce(producer, 0)
    here.store.calls.clear()
    assert await here.produce(producer, 1) is ErrorCode.NONE
    assert here.store.calls == []


async def test_a_transaction_costs_three_calls_beside_its_appends(two):
    here, _ = two
    producer = await here.init()
    await here.produce(producer, 0)
    producer = await here.end(producer)
    here.store.calls.clear()
    assert await here.produce(producer, 0) is ErrorCode.NONE
    assert (await here.end(producer)).error is None
    assert here.store.calls == ["put_transaction"] * 3


async def test_what_a_process_left_decided_is_finished_by_the_next_request(two):
    here, there = two
    producer = await here.init()
    await here.produce(producer, 0)
    await die_after_the_decision(here, producer, commit=True)
    assert await has_open(there)
    assert (await there.init()).error is None
    assert await committed(there.given) == [b"0"]
    assert not await has_open(there)


async def die_after_the_decision(one: Process, producer, commit: bool) -> None:
    """The decision is stored; then the process writes nothing any more."""

    async def never(*_: object) -> bool:
        raise Unavailable("the process is gone")

    one.broker.log.mark = never  # type: ignore[method-assign]
    assert (await one.end(producer, commit)).error is None
    assert (await state(one)).value.startswith("Prepare")


@pytest.mark.parametrize("commit", [True, False])
async def test_a_reader_that_is_held_back_finishes_what_is_decided(two, commit):
    here, there = two
    producer = await here.init()
    await here.produce(producer, 0)
    await die_after_the_decision(here, producer, commit)
    await there.broker.transactions.settle([producer.producer_id])
    assert await committed(there.given) == ([b"0"] if commit else [])
    assert (await state(there)).value.startswith("Complete")


async def test_a_reader_that_is_held_back_aborts_what_has_timed_out(two):
    here, there = two
    producer = await here.init()
    await here.produce(producer, 0)
    again_at = await there.broker.transactions.settle([producer.producer_id])
    assert await has_open(there), "its time is not up"
    assert again_at <= there.given.clock.now + 1_000
    there.given.clock.now += TIMEOUT_MS + 1
    await there.broker.transactions.settle([producer.producer_id])
    assert not await has_open(there)
    assert there.broker.transactions.aborted == 1
    assert await here.produce(producer, 1) is ErrorCode.INVALID_PRODUCER_EPOCH


async def stable_end(one: Process, timestamp: int = -1) -> int:
    row = list_offsets.REQUEST(
        isolation_level=1,
        topics=[
            list_offsets.TOPIC(
                name="letters",
                partitions=[list_offsets.PARTITION(partition_index=0, timestamp=timestamp)],
            )
        ],
    )
    answer = await handle_list_offsets(row, Context(7, "client", ADDRESS), one.broker)
    return answer.topics[0].partitions[0].offset


@pytest.mark.parametrize("timestamp", [-1, 0, -3])
async def test_who_asks_for_offsets_is_not_held_back_by_what_has_timed_out(two, timestamp):
    """Lag monitors fetch nothing, and others ask for the end before they read up to it."""
    here, there = two
    await here.produce(await here.init(), 0)
    await here.plain(b"after it")
    nothing = 0 if timestamp == -1 else -1
    assert await stable_end(there, timestamp) == nothing
    there.given.clock.now += TIMEOUT_MS + 1
    # The aborted record, one after it, and the marker.
    assert await stable_end(there, timestamp) == {-1: 3, 0: 0, -3: 2}[timestamp]


async def test_offsets_are_told_while_the_store_of_transactions_does_not_answer(two):
    """As they are."""
    here, there = two
    await here.produce(await here.init(), 0)
    there.store.down = {"transactional_id_of"}
    assert await stable_end(there) == 0


async def test_the_start_of_a_log_is_told_without_a_look_at_transactions(two):
    here, there = two
    await here.produce(await here.init(), 0)
    before = list(there.store.calls)
    assert await stable_end(there, -2) == 0
    assert there.store.calls == before


@pytest.mark.parametrize("max_wait_ms", [0, 500])
async def test_a_reader_whose_answer_others_fill_is_not_held_back_for_ever(two, max_wait_ms):
    here, there = two
    await here.given.ledger.create_topic(Topic("parcels", OTHER.topic_id, 1, 0))
    await here.given.log.append(OTHER, a_batch(b"always something"))
    await here.produce(await here.init(), 0)
    there.given.clock.now += TIMEOUT_MS + 1
    partition = fetch.PARTITION(partition_max_bytes=1_000)
    row = fetch.REQUEST(
        max_wait_ms=max_wait_ms,
        min_bytes=1,
        max_bytes=10_000,
        isolation_level=1,
        topics=[fetch.TOPIC(topic=name, partitions=[partition]) for name in ("letters", "parcels")],
    )
    await handle_fetch(row, Context(12, "client", ADDRESS), there.broker)
    assert not await has_open(there)


async def test_a_reader_does_not_wait_for_a_transaction_that_this_process_is_at_work_on(two):
    here, _ = two
    producer = await here.init()
    await here.produce(producer, 0)
    here.given.clock.now += TIMEOUT_MS + 1
    coordinator = here.broker.transactions
    async with coordinator._of(ID), asyncio.timeout(5):
        again_at = await coordinator.settle([producer.producer_id])
        assert await has_open(here)
    assert again_at <= here.given.clock.now + 1_000
    here.given.clock.now += 1_000
    await coordinator.settle([producer.producer_id])
    assert not await has_open(here)


async def test_readers_look_at_a_transaction_once_a_second(two):
    here, there = two
    producer = await here.init()
    await here.produce(producer, 0)
    for _ in range(5):
        await there.broker.transactions.settle([producer.producer_id])
        there.given.clock.now += 100
    assert there.store.calls.count("transaction") == 1
    there.given.clock.now += 1_000
    await there.broker.transactions.settle([producer.producer_id])
    assert there.store.calls.count("transaction") == 2


async def test_a_reader_looks_when_the_time_is_up_and_not_a_second_later(two):
    here, there = two
    producer = await here.init()
    await here.produce(producer, 0)
    there.given.clock.now += TIMEOUT_MS - 300
    again_at = await there.broker.transactions.settle([producer.producer_id])
    assert again_at == there.given.clock.now + 300


async def test_a_look_is_repeated_if_the_clock_was_set_back(two):
    here, there = two
    producer = await here.init()
    await here.produce(producer, 0)
    await there.broker.transactions.settle([producer.producer_id])
    there.given.clock.now -= 3_600_000
    await there.broker.transactions.settle([producer.producer_id])
    assert there.store.calls.count("transaction") == 2


async def test_a_late_copy_lands_in_no_later_transaction_although_the_epoch_is_the_same(two):
    """Version 1: all transactions of a producer may have one epoch."""
    here, there = two
    producer = await here.init()
    await here.add(producer)
    first = (await there.ask(verify(producer), fresh=True)).serial
    await here.end(producer, commit=False, bumps=False)
    await here.add(producer)
    second = (await there.ask(verify(producer), fresh=True)).serial
    assert (first, second) == (1, 2)


def verify(producer) -> Verify:
    return Verify(producer.producer_id, producer.epoch, frozenset({PARTITION}))


async def test_an_old_view_is_not_used_for_a_client_whose_epochs_stay_the_same(two):
    here, there = two
    producer = await here.init()
    for first in range(3):
        assert (await here.add(producer)).error is None
        assert await there.produce(producer, first, version=11) is ErrorCode.NONE
        assert (await here.end(producer, bumps=False)).error is None
    assert await committed(here.given) == [b"0", b"1", b"2"]


@pytest.mark.parametrize(
    ("version", "code"),
    [
        (10, ErrorCode.INVALID_TXN_STATE),
        (11, ErrorCode.TRANSACTION_ABORTABLE),
    ],
)
async def test_an_older_client_that_added_no_partition_is_refused(two, version, code):
    here, _ = two
    producer = await here.init()
    assert await here.produce(producer, 0, version=version) is code
    assert (await here.given.log.head(PARTITION)).next_offset == 0


async def test_a_batch_without_a_transactional_id_is_refused(two):
    here, _ = two
    producer = await here.init()
    from unit.log.transacting import transactional

    batch = transactional(0, epoch=producer.epoch, producer_id=producer.producer_id)
    refused = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert await here.send(batch, transactional_id=None) is refused


async def test_a_fenced_producer_is_told_so(two):
    here, there = two
    old = await here.init()
    await here.produce(old, 0)
    new = await there.init()
    assert new.epoch > old.epoch
    assert await here.produce(old, 1) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert await committed(here.given) == [], "what it had open was aborted"


async def test_a_producer_that_nobody_knows_is_refused(two):
    here, _ = two
    from samsa.transactions import Answer

    nobody = Answer(None, 999, 0)
    assert await here.produce(nobody, 0) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


async def test_a_store_that_does_not_answer_leaves_nothing_half_done(two):
    here, _ = two
    producer = await here.init()
    here.store.down = {"put_transaction"}
    assert await here.produce(producer, 0) is ErrorCode.NOT_ENOUGH_REPLICAS
    assert (await here.given.log.head(PARTITION)).next_offset == 0
    here.store.down = set()
    assert await here.produce(producer, 0) is ErrorCode.NONE


async def test_a_put_whose_answer_is_lost_is_found_out(two):
    here, there = two
    producer = await here.init()
    await here.produce(producer, 0)
    await there.ask(AddGroup(producer.producer_id, producer.epoch, "family"))
    # `here` has an old view now: its next change is refused, and judged again.
    assert (await here.end(producer)).error is None
    assert await committed(there.given) == [b"0"]


async def test_many_requests_for_one_id_take_turns(two):
    here, there = two
    producer = await here.init()
    asked = [
        one.ask(
            AddPartitions(
                producer.producer_id, producer.epoch, frozenset({Partition(PARTITION.topic_id, n)})
            )
        )
        for n in range(20)
        for one in (here, there)
    ]
    answers = await asyncio.gather(*asked)
    assert {answer.error for answer in answers} == {None}
    found = await here.broker.transactions.look(ID)
    assert len(found.partitions) == 20


async def test_a_topic_that_was_deleted_does_not_hold_up_the_end(two):
    here, _ = two
    producer = await here.init()
    await here.produce(producer, 0)
    topic = Topic("letters", PARTITION.topic_id, 1, 0)
    await here.given.ledger.delete_topic(topic)
    await here.given.ledger.forget_topic(topic)
    assert (await here.end(producer)).error is None
    assert await state(here) is State.COMPLETE_COMMIT


async def test_the_end_of_an_old_epoch_is_refused(two):
    here, there = two
    old = await here.init()
    await here.produce(old, 0)
    await there.init()
    assert (await here.end(old)).error is TransactionError.PRODUCER_FENCED


async def test_an_end_that_comes_again_is_answered_as_the_first_time(two):
    here, there = two
    producer = await here.init()
    await here.produce(producer, 0)
    first = await here.end(producer)
    again = await there.end(producer)
    assert (again.error, again.producer_id, again.epoch) == (None, first.producer_id, first.epoch)
    assert (await there.end(producer, commit=False)).error is TransactionError.INVALID_TXN_STATE


async def test_upkeep_forgets_an_id_that_was_not_used_for_long(two):
    here, there = two
    await here.init()
    assert not await there.broker.transactions.tend(ID, 1_000)
    there.given.clock.now += 1_001
    assert await there.broker.transactions.tend(ID, 1_000)
    assert await there.broker.transactions.look(ID) is None
    assert (await here.init()).error is None, "it begins anew"


async def test_upkeep_aborts_what_has_timed_out_and_forgets_nothing_that_is_open(two):
    here, there = two
    producer = await here.init()
    await here.produce(producer, 0)
    there.given.clock.now += TIMEOUT_MS - 1
    assert not await there.broker.transactions.tend(ID, 1)
    assert await has_open(here)
    there.given.clock.now += 2
    await there.broker.transactions.tend(ID, 10**9)
    assert not await has_open(here)


async def test_markers_go_to_all_partitions_of_many(two):
    here, _ = two
    numbers = range(200)
    topic = Topic("wide", PARTITION.topic_id.__class__(int=9), len(numbers), 0)
    await here.given.ledger.create_topic(topic)
    producer = await here.init()
    all_of_them = frozenset(Partition(topic.id, n) for n in numbers)
    await here.ask(AddPartitions(producer.producer_id, producer.epoch, all_of_them))
    assert (await here.ask(
        EndTransaction(producer.producer_id, producer.epoch, commit=False, bumps=True)
    )).error is None  # fmt: skip
    for partition in all_of_them:
        assert (await here.given.log.head(partition)).next_offset == 1


async def test_a_plain_producer_is_not_disturbed_by_a_transaction_beside_it(two):
    here, _ = two
    producer = await here.init()
    await here.produce(producer, 0)
    assert await here.plain(b"plain") is ErrorCode.NONE
    assert a_batch(b"plain").serial == 0
    await here.end(producer, commit=False)
    assert await committed(here.given) == [b"plain"]


async def test_a_batch_outside_of_the_transaction_that_its_producer_has_open_is_refused(two):
    here, there = two
    producer = await here.init()
    assert await here.produce(producer, 0) is ErrorCode.NONE
    assert await here.outside(producer, 1) is ErrorCode.INVALID_TXN_STATE
    assert (await here.given.log.head(PARTITION)).next_offset == 1
    await here.end(producer, bumps=False)
    assert await here.outside(producer, 1) is ErrorCode.NONE
    assert await committed(there.given) == [b"0", b"1"]


async def test_a_batch_outside_of_a_transaction_is_stored_if_none_is_open_in_its_partition(two):
    """The partition was added, and nothing was written there."""
    here, _ = two
    producer = await here.init()
    await here.add(producer)
    assert await here.outside(producer, 0) is ErrorCode.NONE


async def test_a_batch_outside_of_a_transaction_is_not_stored_while_nobody_can_tell(two):
    here, _ = two
    producer = await here.init()
    assert await here.produce(producer, 0) is ErrorCode.NONE

    async def down(_: object) -> None:
        raise Unavailable("no head")

    here.broker.log.head = down  # type: ignore[method-assign]
    assert await here.outside(producer, 1) is ErrorCode.NOT_ENOUGH_REPLICAS
