"""Topics that change: more partitions, other configs; and who produces to them."""

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MethodType
from typing import Any

import pytest
from functional.conftest import open_ledger
from functional.given import a_partition, a_topic, an_extent, append
from functional.racers import race_of_tasks

from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.table import Table
from samsa.local.sqlite import SqliteLedger
from samsa.ports import Bound, Claim, Ledger, Partition, Topic, Unavailable, UnknownPartition

LATER_MS = 1_700_000_000_000 + 60_000


def wider(topic: Topic, partitions: int) -> Topic:
    return replace(topic, partitions=partitions)


def with_configs(topic: Topic, **configs: str) -> Topic:
    return replace(topic, configs=configs)


async def test_a_changed_topic_is_found_as_it_is_now(ledger: Ledger):
    old = a_topic("letters", 2, **{"retention.ms": "5", "cleanup.policy": "delete"})
    new = replace(old, partitions=4, configs={"retention.ms": "6"})
    await ledger.create_topic(old)
    assert await ledger.change_topic(old, new)
    assert await ledger.topic("letters") == new
    assert await ledger.topic_by_id(old.id) == new
    assert await ledger.topics() == [new]


async def test_new_partitions_are_empty_and_old_ones_stay_as_they_were(ledger: Ledger):
    topic = a_topic(partitions=1)
    await ledger.create_topic(topic)
    await append(ledger, Partition(topic.id, 0), an_extent(0, 10))
    assert await ledger.change_topic(topic, wider(topic, 60))
    assert (await ledger.head(Partition(topic.id, 0))).next_offset == 10
    for number in (1, 25, 26, 50, 51, 59):
        assert (await ledger.head(Partition(topic.id, number))).next_offset == 0
    with pytest.raises(UnknownPartition):
        await ledger.head(Partition(topic.id, 60))
    await append(ledger, Partition(topic.id, 59), an_extent(0, 3))


async def test_a_change_of_what_the_topic_was_before_is_refused(ledger: Ledger):
    first = a_topic(partitions=1)
    second = with_configs(first, **{"retention.ms": "1"})
    await ledger.create_topic(first)
    assert await ledger.change_topic(first, second)
    assert not await ledger.change_topic(first, with_configs(first, **{"retention.ms": "2"}))
    assert not await ledger.change_topic(first, wider(first, 3))
    assert await ledger.topic(first.name) == second


async def test_a_change_that_succeeded_may_be_repeated(ledger: Ledger):
    old = a_topic(partitions=1)
    new = wider(old, 3)
    await ledger.create_topic(old)
    assert await ledger.change_topic(old, new)
    await append(ledger, Partition(old.id, 2), an_extent(0, 7))
    assert await ledger.change_topic(old, new)
    assert (await ledger.head(Partition(old.id, 2))).next_offset == 7


async def test_a_topic_that_is_gone_cannot_be_changed(ledger: Ledger):
    old, new = a_topic("letters", 1), a_topic("letters", 1)
    assert not await ledger.change_topic(old, wider(old, 3))
    await ledger.create_topic(old)
    await ledger.delete_topic(old)
    await ledger.create_topic(new)
    assert not await ledger.change_topic(old, wider(old, 3))
    assert await ledger.topic("letters") == new
    with pytest.raises(UnknownPartition):
        await ledger.head(Partition(old.id, 2))


async def test_deleting_a_topic_by_what_it_was_before_forgets_its_new_partitions(ledger: Ledger):
    old = a_topic(partitions=1)
    await ledger.create_topic(old)
    await ledger.change_topic(old, wider(old, 5))
    assert await ledger.delete_topic(old)
    (doomed,) = await ledger.doomed_topics()
    assert doomed.partitions == 5
    await ledger.forget_topic(doomed)
    for number in range(5):
        with pytest.raises(UnknownPartition):
            await ledger.head(Partition(old.id, number))


async def test_producers_are_listed_until_they_may_be_forgotten(ledger: Ledger):
    here = await a_partition(ledger)
    there = await a_partition(ledger, "elsewhere")
    await append(ledger, here, an_extent(0), [Claim(7, b"seven", 0, LATER_MS)])
    await append(ledger, here, an_extent(1), [Claim(4000, b"first", 0, LATER_MS)])
    await append(ledger, here, an_extent(2), [Claim(4000, b"second", 1, LATER_MS + 30_000)])
    await append(ledger, there, an_extent(0), [Claim(9, b"nine", 0, LATER_MS)])
    second = Bound(2, b"second", 2)
    assert await ledger.producers(here, 0) == {7: Bound(1, b"seven", 0), 4000: second}
    assert await ledger.producers(here, LATER_MS + 10_000) == {4000: second}
    assert await ledger.producers(here, LATER_MS + 30_000) == {}


async def test_producers_whose_time_is_up_are_forgotten_and_no_others(ledger: Ledger):
    here = await a_partition(ledger)
    claims = [Claim(7, b"seven", 0, LATER_MS), Claim(4000, b"first", 0, LATER_MS + 30_000)]
    await append(ledger, here, an_extent(0), claims)
    gone = await ledger.forget_producers(LATER_MS)
    assert gone == (1 if isinstance(ledger, SqliteLedger) else 0)  # DynamoDB does it in its time
    found = await ledger.producers(here, 0)
    assert found[4000] == Bound(1, b"first", 0)
    assert (7 not in found) == bool(gone)


@pytest.fixture
async def dynamo(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[DynamoLedger]:
    ledger = await open_ledger("dynamodb-moto", tmp_path, request)
    yield ledger
    await ledger.close()


def stop_after(ledger: DynamoLedger, requests: int) -> None:
    """The process ends before its next request but so many."""
    send, left = Table.send, requests

    async def stopping(self: Table, method: str, **parameters: Any) -> Any:
        nonlocal left
        if left == 0:
            raise Unavailable("the process has stopped")
        left -= 1
        return await send(self, method, **parameters)

    ledger.table.send = MethodType(stopping, ledger.table)


def go_on(ledger: DynamoLedger) -> None:
    del ledger.table.send


async def items_of(ledger: DynamoLedger, topic: Topic) -> list[str]:
    found = (await ledger.table.call("scan", ConsistentRead=True))["Items"]
    return [item["pk"]["S"] for item in found if str(topic.id) in str(item)]


async def grown_and_doomed(ledger: DynamoLedger) -> Topic:
    """A topic with records, and with heads whose count was never committed."""
    topic = a_topic(partitions=2)
    await ledger.create_topic(topic)
    for number in range(2):
        await append(ledger, Partition(topic.id, number), an_extent(0, 10))
    stop_after(ledger, 1)
    with pytest.raises(Unavailable):
        await ledger.change_topic(topic, wider(topic, 5))
    go_on(ledger)
    assert (await ledger.head(Partition(topic.id, 4))).next_offset == 0
    assert (await ledger.topic(topic.name)).partitions == 2
    assert await ledger.delete_topic(topic)
    return topic


async def test_a_change_that_stopped_half_way_may_be_made_again(dynamo: DynamoLedger):
    topic = a_topic(partitions=1)
    await dynamo.create_topic(topic)
    for requests in range(2):
        stop_after(dynamo, requests)
        with pytest.raises(Unavailable):
            await dynamo.change_topic(topic, wider(topic, 4))
        go_on(dynamo)
    assert await dynamo.change_topic(topic, wider(topic, 3))
    assert (await dynamo.topic(topic.name)).partitions == 3


@pytest.mark.parametrize("requests", range(0, 24, 2))
async def test_forgetting_that_stopped_half_way_is_finished_by_the_next(
    requests: int, dynamo: DynamoLedger
):
    topic = await grown_and_doomed(dynamo)
    stop_after(dynamo, requests)
    with suppress(Unavailable):
        await dynamo.forget_topic(topic)
    go_on(dynamo)
    for doomed in await dynamo.doomed_topics():
        await dynamo.forget_topic(doomed)
    assert await items_of(dynamo, topic) == []


@pytest.fixture(params=["sqlite", "dynamodb-local"])
async def raced(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Ledger]:
    """moto is not raced: it reads, changes and writes an item without holding it."""
    ledger = await open_ledger(request.param, tmp_path, request)
    yield ledger
    await ledger.close()


async def test_of_many_changes_exactly_one_succeeds_and_every_partition_has_a_head(raced: Ledger):
    topic = a_topic(partitions=1)
    await raced.create_topic(topic)
    counts = range(2, 14)
    calls = [("change_topic", topic, wider(topic, count)) for count in counts]
    answers = await race_of_tasks([raced], calls)
    found = await raced.topic(topic.name)
    assert [count for count, done in zip(counts, answers, strict=True) if done] == [
        found.partitions
    ]
    for number in range(found.partitions):
        assert (await raced.head(Partition(topic.id, number))).next_offset == 0


async def test_of_a_topic_that_is_deleted_while_it_grows_nothing_stays(raced: Ledger):
    topics = [a_topic(f"topic-{n}", 1) for n in range(6)]
    for topic in topics:
        await raced.create_topic(topic)
    calls = [("change_topic", topic, wider(topic, n)) for topic in topics for n in (2, 3, 5)]
    deletes = [("delete_topic", topic) for topic in topics]
    answers = await race_of_tasks([raced], [*calls, *deletes])
    assert answers[len(calls) :] == [True] * len(topics)
    for doomed in await raced.doomed_topics():
        await raced.forget_topic(doomed)
    for topic in topics:
        for number in range(5):
            with pytest.raises(UnknownPartition):
                await raced.head(Partition(topic.id, number))
