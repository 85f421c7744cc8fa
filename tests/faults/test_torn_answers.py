"""An answer that is cut short, at any byte, is no answer: it is never taken for another one."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import count
from typing import Any

import pytest
from faults.proxy import FaultyProxy, faulty_proxy
from faults.weather import Card, Fault, Weather
from functional.given import a_partition, a_topic, an_extent

from samsa.aws.client import Patience
from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.s3 import S3Objects
from samsa.ports import Missing, NotDone, Unavailable
from samsa.ports.heads import HeadState, HeadUpdate

CUTS = 40
KEY, BODY = "log/0", b"gregor " * 20


class Scissors(Weather):
    """Cuts the next answers, one after the other, a little later each; then no more."""

    def __init__(self) -> None:
        super().__init__("", {})
        self.parts: list[float] = []

    def cut(self) -> None:
        self.parts = [number / CUTS for number in range(CUTS)]

    def draw(self) -> Card:
        return Card(Fault.CUT, part=self.parts.pop(0)) if self.parts else Card(Fault.NONE)


@pytest.fixture
def proxy(moto: str) -> Iterator[FaultyProxy]:
    with faulty_proxy(moto, Scissors()) as proxy:
        yield proxy


@pytest.fixture
async def ledger(proxy: FaultyProxy) -> AsyncIterator[DynamoLedger]:
    ledger = DynamoLedger("torn", proxy.url, patience=Patience(read_s=2, tries=1))
    await ledger.create_table()
    yield ledger
    await ledger.close()


async def answers(proxy: FaultyProxy, call: Callable[[], Awaitable[Any]]) -> list[Any]:
    """What came of the call under every cut, but for those that said that nothing is known."""
    whole: list[Any] = []
    proxy.weather.cut()
    while proxy.weather.parts:
        try:
            whole.append(await call())
        except Unavailable:
            continue
    return whole


async def test_a_torn_item_is_not_taken_for_a_missing_one(ledger: DynamoLedger, proxy: FaultyProxy):
    topic = a_topic("item")
    await ledger.create_topic(topic)
    assert await answers(proxy, lambda: ledger.topic("item")) == []
    assert await ledger.topic("item") == topic


async def test_a_torn_refusal_is_not_taken_for_an_unforeseen_error(
    ledger: DynamoLedger, proxy: FaultyProxy
):
    partition = await a_partition(ledger, "refusal")
    update = HeadUpdate(an_extent(0, 3, id="twice", data=b"d" * 100, key=""), sweeps=0)
    await ledger.update_head(partition, update)
    assert await answers(proxy, lambda: ledger.update_head(partition, update)) == []
    state, done = await ledger.update_head(partition, update)
    assert (state.head.next_offset, done) == (3, False)


async def test_a_torn_answer_to_a_commit_is_never_taken_for_its_refusal(
    ledger: DynamoLedger, proxy: FaultyProxy
):
    """Nor for a commit that certainly was not done: it would be sent again."""
    partition = await a_partition(ledger, "commit")
    words = (f"id{number}" for number in count())

    async def commit() -> tuple[HeadState, bool]:
        entry = an_extent(0, id=next(words), data=b"d" * 100, key="")
        try:
            return await ledger.update_head(partition, HeadUpdate(entry, sweeps=0))
        except NotDone:
            return await ledger.head_state(partition), False

    assert await answers(proxy, commit) == []
    assert (await ledger.head(partition)).next_offset == CUTS


@pytest.fixture
def objects(proxy: FaultyProxy) -> S3Objects:
    return S3Objects("samsa", "torn", proxy.url, "us-east-1", timeout_s=0.2)


async def test_a_torn_object_is_never_returned(objects: S3Objects, proxy: FaultyProxy):
    await objects.put_if_absent(KEY, [BODY])
    got = await answers(proxy, lambda: objects.get(KEY))
    assert {bytes(data) for data in got} <= {BODY}


async def test_a_torn_answer_to_a_put_says_neither_that_the_key_was_free_nor_that_it_is_missing(
    objects: S3Objects, proxy: FaultyProxy
):
    await objects.put_if_absent(KEY, [BODY])
    assert set(await answers(proxy, lambda: objects.put_if_absent(KEY, [b"other"]))) <= {False}
    assert bytes(await objects.get(KEY)) == BODY


async def test_a_torn_answer_about_a_missing_object_says_that_or_nothing(
    objects: S3Objects, proxy: FaultyProxy
):
    async def is_missing() -> bool:
        with pytest.raises(Missing):
            await objects.get("log/1")
        return True

    assert set(await answers(proxy, is_missing)) <= {True}
