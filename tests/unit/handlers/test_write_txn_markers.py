"""WriteTxnMarkers: what an administrator aborts in a partition, beside producers that go on."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from unit.handlers.transacting import ADDRESS, ID, Process, processes
from unit.log.given import PARTITION
from unit.log.transacting import append, committed, transactional

from samsa.broker.broker import Context
from samsa.handlers.k27_write_txn_markers import write_txn_markers
from samsa.transactions import Answer, State, TransactionError
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.write_txn_markers import MARKER, REQUEST, TOPIC

OLDER = 11
"""A version of Produce whose clients keep their epoch from transaction to transaction."""


@pytest.fixture
async def two() -> list[Process]:
    return await processes()


async def abort(one: Process, producer: Answer) -> ErrorCode:
    topic = TOPIC(name="letters", partition_indexes=[0])
    marker = MARKER(producer_id=producer.producer_id, producer_epoch=producer.epoch, topics=[topic])
    told: Any = await write_txn_markers(
        REQUEST(markers=[marker]), Context(1, "client", ADDRESS), one.broker
    )
    return ErrorCode(told.markers[0].topics[0].partitions[0].error_code)


def after_look(one: Process, number: int, then: Callable[[], Awaitable[None]]) -> None:
    """Do it after the process has looked at what the coordinator knows, for the so manieth time."""
    look, looks = one.broker.transactions.abort_of, 0

    async def looked(producer_id: int) -> None:
        nonlocal looks
        looks += 1
        await look(producer_id)
        if looks == number:
            await then()

    one.broker.transactions.abort_of = looked  # type: ignore[method-assign]


async def with_one_committed(one: Process) -> Answer:
    producer = await one.init()
    await one.add(producer)
    assert await one.produce(producer, 0, OLDER) is ErrorCode.NONE
    assert (await one.end(producer, bumps=False)).error is None
    return producer


async def begins(one: Process, producer: Answer, first: int) -> None:
    assert (await one.add(producer)).error is None
    assert await one.produce(producer, first, OLDER) is ErrorCode.NONE


async def is_aborted(one: Process, producer: Answer) -> None:
    """Everywhere, and nothing but the first transaction was committed."""
    assert (await one.given.log.head(PARTITION)).open_transactions == {}
    ended = await one.end(producer, bumps=False)
    assert ended.error is TransactionError.PRODUCER_FENCED
    found = await one.broker.transactions.look(ID)
    assert found is not None
    assert found.state is State.COMPLETE_ABORT
    assert await committed(one.given) == [b"0"]


async def test_a_transaction_that_begins_meanwhile_is_aborted_by_its_coordinator(two):
    here, there = two
    producer = await with_one_committed(there)
    after_look(here, 1, lambda: begins(there, producer, 1))
    assert await abort(here, producer) is ErrorCode.NONE
    await is_aborted(there, producer)


async def test_a_transaction_that_joins_what_hangs_is_aborted_by_its_coordinator(two):
    here, there = two
    producer = await with_one_committed(there)
    await append(there.given, transactional(1, serial=2, epoch=0, producer_id=producer.producer_id))
    after_look(here, 2, lambda: begins(there, producer, 2))
    assert await abort(here, producer) is ErrorCode.NONE
    await is_aborted(there, producer)


async def test_what_hangs_is_aborted_though_the_coordinator_does_not_know_of_it(two):
    here, there = two
    producer = await with_one_committed(there)
    await append(there.given, transactional(1, serial=2, epoch=0, producer_id=producer.producer_id))
    assert await abort(here, producer) is ErrorCode.NONE
    assert (await there.given.log.head(PARTITION)).open_transactions == {}
    assert await committed(there.given) == [b"0"]
