"""A group of very many partitions is assigned and written off the event loop."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from faults.inside import TurnedClock, a_broker, ask

from samsa.broker.work import Work
from samsa.coordinator.assigned import by_topic
from samsa.coordinator.coordinator import MANY
from samsa.local.memory import MemoryObjects
from samsa.local.sqlite import SqliteLedger
from samsa.local.sqlite_groups import SqliteGroups
from samsa.wire.apis import ApiKey
from samsa.wire.messages import consumer_group_heartbeat as heartbeat

FIRST, SECOND = UUID(int=1), UUID(int=2)


class WatchedWork(Work):
    def __init__(self) -> None:
        super().__init__()
        self.in_the_thread: list[str] = []

    async def in_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        self.in_the_thread.append(getattr(function, "__name__", ""))
        return await super().in_thread(function, *arguments)


class Site:
    def __init__(self, folder: Path) -> None:
        path = str(folder / "ledger.db")
        self.ledger = SqliteLedger(path)
        self.groups = SqliteGroups(path, alone=lambda: True)
        self.broker = a_broker(self.ledger, MemoryObjects(), TurnedClock(), self.groups)
        self.work = self.broker.work = WatchedWork()

    async def join(self, member_id: str, **subscription: Any) -> int:
        """How many partitions the member is given."""
        row = heartbeat.REQUEST(
            group_id="wide",
            member_id=member_id,
            rebalance_timeout_ms=60_000,
            topic_partitions=[],
            **subscription,
        )
        answer = await ask(self.broker, ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, row)
        assert answer.error_code == 0, answer
        given = answer.assignment.topic_partitions
        assert given == sorted(given, key=lambda topic: topic.topic_id.int)
        return sum(len(topic.partitions) for topic in given)


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    site = Site(tmp_path)
    yield site
    await site.broker.background_done()
    await site.groups.close()
    await site.ledger.close()


@pytest.mark.parametrize("by_name", [True, False])
async def test_a_wide_group_is_assigned_in_the_thread(site: Site, by_name: bool):
    await site.broker.catalog.create("wide", 2 * MANY, {})
    names, pattern = (["wide"], None) if by_name else ([], "w.*")
    subscription = {"subscribed_topic_names": names, "subscribed_topic_regex": pattern}
    assert await site.join("one", **subscription) == 2 * MANY
    assert site.work.in_the_thread.count("_step") == 1
    await site.join("two", **subscription)
    assert site.work.in_the_thread.count("_step") == 2


async def test_many_narrow_topics_make_a_group_wide(site: Site):
    for number in range(MANY + 1):
        await site.broker.catalog.create(f"narrow{number}", 1, {})
    assert await site.join("one", subscribed_topic_regex="narrow.*") == MANY + 1
    assert "_step" in site.work.in_the_thread


async def test_a_group_of_few_partitions_is_assigned_at_once(site: Site):
    await site.broker.catalog.create("narrow", 6, {})
    assert await site.join("one", subscribed_topic_names=["narrow"]) == 6
    assert site.work.in_the_thread == []


async def test_partitions_are_sorted_by_topic_and_number():
    pairs = {(SECOND, 3), (FIRST, 2), (SECOND, 1), (FIRST, 10)}
    assert await by_topic(pairs, Work()) == [(FIRST, [2, 10]), (SECOND, [1, 3])]
