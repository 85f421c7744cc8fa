"""A process answers the end of a transaction after the decision, and then finishes it."""

import asyncio
import logging

import pytest
from unit.handlers.transacting import ID, Process, processes
from unit.log.given import PARTITION
from unit.log.transacting import committed

from samsa.coordinator import transactions
from samsa.ports import Partition, Topic
from samsa.transactions import AddPartitions, Answer, EndTransaction, State
from samsa.wire.errors import ErrorCode
from samsa_broker.server.listener import Server


@pytest.fixture
async def two() -> list[Process]:
    return await processes(works_after_answers=True)


def state(one: Process) -> State:
    """As the process sees it, without a call that would wait."""
    found = one.broker.transactions._known[ID].transaction
    assert found is not None
    return found.state


async def in_a_transaction(one: Process) -> Answer:
    producer = await one.init()
    assert await one.produce(producer, 0) is ErrorCode.NONE
    return producer


@pytest.mark.parametrize("commit", [True, False])
async def test_an_end_is_answered_before_its_markers_are_written(two, commit):
    here, there = two
    producer = await in_a_transaction(here)
    ended = await here.end(producer, commit)
    assert (ended.error, ended.producer_id, ended.epoch) == (None, producer.producer_id, 1)
    assert state(here) is (State.PREPARE_COMMIT if commit else State.PREPARE_ABORT)
    assert await committed(there.given) == []
    await here.broker.finish_transactions()
    assert state(here) is (State.COMPLETE_COMMIT if commit else State.COMPLETE_ABORT)
    assert await committed(there.given) == ([b"0"] if commit else [])


async def test_the_next_request_for_the_id_waits_until_it_is_complete(two):
    here, there = two
    ended = await here.end(await in_a_transaction(here))
    assert await here.produce(ended, 0) is ErrorCode.NONE, "not CONCURRENT_TRANSACTIONS"
    assert await committed(there.given) == [b"0"], "the second is open"
    await here.end(ended)
    assert await here.broker.transactions.look(ID) is not None
    assert await committed(there.given) == [b"0", b"0"]


async def test_the_next_request_for_the_id_ends_the_rest_before_many_markers(two, monkeypatch):
    here, _ = two
    monkeypatch.setattr(transactions, "REST_S", 3_600)
    producer, wide = await wide_transaction(here)
    await here.ask(EndTransaction(producer.producer_id, producer.epoch, commit=True, bumps=True))
    await asyncio.sleep(0)
    assert state(here) is State.PREPARE_COMMIT
    assert (await here.init()).error is None
    for partition in wide:
        assert (await here.given.log.head(partition)).next_offset == 1


async def test_other_requests_have_their_turns_while_many_markers_are_written(two):
    here, _ = two
    producer, wide = await wide_transaction(here, 5 * transactions.AT_ONCE)
    await here.ask(EndTransaction(producer.producer_id, producer.epoch, commit=True, bumps=True))
    seen: set[int] = set()
    while here.broker.transactions.background.count:
        seen.add(sum([(await here.given.log.head(one)).next_offset for one in wide]))
        await asyncio.sleep(0)
    assert seen & {transactions.AT_ONCE * some for some in (1, 2, 3, 4)}


async def wide_transaction(
    one: Process, size: int = transactions.FEW + 1
) -> tuple[Answer, frozenset[Partition]]:
    topic = Topic("wide", PARTITION.topic_id.__class__(int=9), size, 0)
    await one.given.ledger.create_topic(topic)
    wide = frozenset(Partition(topic.id, number) for number in range(topic.partitions))
    producer = await one.init()
    await one.ask(AddPartitions(producer.producer_id, producer.epoch, wide))
    return producer, wide


async def test_a_failure_after_the_answer_is_one_line_and_the_next_request_finishes(two, caplog):
    here, there = two
    producer = await in_a_transaction(here)
    calls, down = here.store.calls, here.store.down

    async def decided(*given: object) -> object:
        """The store goes down right after the decision."""
        answer = await type(here.store).__getattr__(here.store, "put_transaction")(*given)
        down.add("put_transaction")
        return answer

    here.broker.transactions._store.put_transaction = decided  # type: ignore[method-assign]
    with caplog.at_level(logging.INFO):
        assert (await here.end(producer)).error is None
        del here.broker.transactions._store.put_transaction
        await here.broker.finish_transactions()
    assert [one.message for one in caplog.records] == ["put off: put_transaction"]
    assert calls.count("put_transaction") > 3, "it was tried again"
    assert state(here) is State.PREPARE_COMMIT
    down.clear()
    assert (await here.init()).error is None
    assert await committed(there.given) == [b"0"]


async def test_too_many_are_not_left_to_the_background(two, monkeypatch):
    here, _ = two
    monkeypatch.setattr(transactions, "MOST_LEFT", 0)
    await here.end(await in_a_transaction(here))
    assert state(here) is State.COMPLETE_COMMIT


async def test_a_function_finishes_before_it_answers():
    (here,) = await processes(1)
    await here.end(await in_a_transaction(here))
    assert state(here) is State.COMPLETE_COMMIT


async def test_a_process_finishes_what_it_has_answered_before_it_ends(two):
    here, there = two
    server = Server(here.broker)
    await here.end(await in_a_transaction(here))
    assert state(here) is State.PREPARE_COMMIT
    await server.close()
    assert state(here) is State.COMPLETE_COMMIT
    assert await committed(there.given) == [b"0"]


async def test_a_client_that_goes_away_with_its_answer_leaves_nothing_undone(two):
    """The task of its connection is cancelled."""
    here, there = two
    producer = await in_a_transaction(here)
    asked = asyncio.ensure_future(here.end(producer))
    await asyncio.sleep(0)
    asked.cancel()
    await asyncio.wait([asked])
    assert (await there.init()).error is None
    assert await committed(here.given) == [b"0"]
