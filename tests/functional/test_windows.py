"""Windows on DynamoDB: shared by partitions, read by each, and swept once none names them."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from functional.far_log import PLENTY, Process, a_value
from functional.given import a_topic
from functional.journals import SetClock

from samsa.local.memory import MemoryObjects
from samsa.log import windows
from samsa.log.merge import RoundBudget
from samsa.log.stores import Limits
from samsa.ports import Partition, Topic
from samsa.ports.windows import WINDOWS


@dataclass
class Given:
    process: Process
    topic: Topic
    one: Partition
    two: Partition

    def later(self) -> None:
        """So much that nothing in a window is young any more."""
        self.process.clock.now += Limits().leave_window_ms + 1


@pytest.fixture
async def given(dynamodb: Any) -> Given:
    topic = a_topic(partitions=2)
    await dynamodb.create_topic(topic)
    process = Process(dynamodb, MemoryObjects(), SetClock())
    one, two = (Partition(topic.id, number) for number in range(2))
    for partition in (one, two):
        await process.journal.next_offset(partition)  # so that no put waits for a head
    return Given(process, topic, one, two)


async def test_appends_to_two_partitions_share_an_object_and_are_read_back(given: Given):
    process = given.process
    await process.append(given.one, given.two)
    assert process.objects.calls["put"] == 1
    assert len(await process.windows()) == 1
    for partition in (given.one, given.two):
        assert await process.values(partition) == [a_value(partition)]
        await process.journal.settle(partition)  # the same from the index
        assert await process.values(partition) == [a_value(partition)]


async def test_an_entry_of_a_window_is_read_by_another_process(given: Given):
    await given.process.append(given.one, given.two)
    other = Process(given.process.ledger, given.process.objects, given.process.clock)
    for partition in (given.one, given.two):
        assert await other.values(partition) == [a_value(partition)]


async def test_a_window_outlives_the_first_partition_that_leaves_it(given: Given):
    process = given.process
    await process.append(given.one, given.two)
    given.later()
    await process.leave(given.one)
    assert [e.key.startswith(WINDOWS) for e in await process.extents(given.one)] == [False]
    assert await process.log.janitor.windows.sweep() == 0
    assert await process.values(given.two) == [a_value(given.two)]
    await process.leave(given.two)
    assert await process.log.janitor.windows.sweep() == 1
    assert await process.windows() == []
    for partition in (given.one, given.two):
        assert await process.values(partition) == [a_value(partition)]


async def test_a_window_is_kept_while_a_reader_may_have_planned_on_it(given: Given):
    process = given.process
    await process.append(given.one, given.two)
    given.later()
    for partition in (given.one, given.two):
        await process.log.merger.merge(partition, RoundBudget(PLENTY, PLENTY))
    assert await process.log.janitor.windows.sweep() == 0  # it has pending deletions
    assert len(await process.windows()) == 1


async def test_a_young_window_is_left_alone(given: Given):
    """Counting a sweep would make what is under way be put again."""
    await given.process.append(given.one, given.two)
    before = await given.process.ledger.head_state(given.one)
    assert await given.process.log.janitor.windows.sweep() == 0
    assert (await given.process.ledger.head_state(given.one)).sweeps == before.sweeps


async def test_a_window_that_was_never_committed_is_swept_and_cannot_be_shown_after(given: Given):
    """Its writer sleeps between put and commit, and wakes up when the window is gone."""
    process, held = given.process, asyncio.Event()
    update, asleep = process.ledger.update_head, asyncio.Event()

    async def late(*what: Any) -> Any:
        asleep.set()
        await held.wait()
        return await update(*what)

    process.ledger.update_head = late
    appends = asyncio.create_task(process.append(given.one, given.two))
    await asleep.wait()
    given.later()
    janitor = Process(process.ledger, process.objects, process.clock)
    assert await janitor.log.janitor.windows.sweep() == 1
    held.set()
    assert await appends == [0, 0]
    for partition in (given.one, given.two):
        assert await process.values(partition) == [a_value(partition)]


async def test_a_window_of_a_deleted_topic_is_swept(given: Given):
    process = given.process
    await process.append(given.one, given.two)
    await process.ledger.delete_topic(given.topic)
    await process.log.retainer.bury(given.topic)
    given.later()
    assert await process.log.janitor.windows.sweep() == 1


async def test_what_retention_drops_leaves_its_window(given: Given):
    process = given.process
    await process.append(given.one, given.two)
    given.later()
    for partition in (given.one, given.two):
        await process.journal.settle(partition)
        await process.log.retainer.delete_before(partition, 1)
    assert await process.log.janitor.windows.sweep() in (0, 1)
    for partition in (given.one, given.two):
        for _ in range(3):
            await process.log.sweeper.sweep(partition)
    await process.log.janitor.windows.sweep()
    assert await process.windows() == []


async def test_windows_are_swept_by_one_process_an_hour(given: Given):
    process = given.process
    await process.append(given.one, given.two)
    given.later()
    lists = process.objects.calls["list"]
    for process_number in range(2):
        other = Process(process.ledger, process.objects, process.clock)
        await other.log.janitor.sweep_windows()
        assert process.objects.calls["list"] == lists + 1, process_number


async def test_all_old_windows_are_swept_however_many_there_are(
    given: Given, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(windows, "AT_ONCE", 2)
    process = given.process
    for _ in range(5):
        await process.append(given.one, given.two)
        process.clock.now += 1
    assert len(await process.windows()) == 5
    given.later()
    for partition in (given.one, given.two):
        await process.leave(partition)
    assert await process.log.janitor.windows.sweep() == 5
