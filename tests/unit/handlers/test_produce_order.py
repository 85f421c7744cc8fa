"""A request keeps its place in the log even when the ledger will not say which topic it means."""

import asyncio

from unit.log.given import Given, a_log, sequenced

from samsa.broker.broker import Broker, Context, Later
from samsa.handlers.k00_produce import produce
from samsa.topics.catalog import REMEMBER_MS
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.produce import PARTITION, REQUEST, TOPIC

CONTEXT = Context(12, "client", ("127.0.0.1", 9092))
TIMEOUT_MS = 50


async def ask(broker: Broker, first: int) -> Later:
    rows = [PARTITION(index=0, records=sequenced(first).data)]
    topic = TOPIC(name="letters", partition_data=rows)
    request = REQUEST(acks=-1, timeout_ms=TIMEOUT_MS, topic_data=[topic])
    return await produce(request, CONTEXT, broker)


async def answer(later: Later) -> ErrorCode:
    if later.under_way:
        await asyncio.wait(later.under_way)
    return ErrorCode(later.build().responses[0].partition_responses[0].error_code)


async def never(name: str) -> None:
    await asyncio.Event().wait()


async def test_a_request_that_meets_a_silent_ledger_leaves_no_gap():
    given: Given = await a_log()
    broker = Broker(given.stores, "cluster")
    assert await answer(await ask(broker, 0)) is ErrorCode.NONE
    topic, given.ledger.topic = given.ledger.topic, never
    given.clock.now += REMEMBER_MS
    second = await ask(broker, 1)
    given.ledger.topic = topic
    third = await ask(broker, 2)
    assert [await answer(second), await answer(third)] == [ErrorCode.NONE, ErrorCode.NONE]
    assert await given.values() == [b"0", b"1", b"2"]
