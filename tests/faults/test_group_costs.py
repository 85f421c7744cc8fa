"""What a group costs in calls of its store: at most one read and one write for a request."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from faults.inside import TurnedClock, a_broker, ask

from samsa.broker.broker import Broker
from samsa.local.memory import MemoryObjects
from samsa.local.sqlite import SqliteLedger
from samsa.local.sqlite_groups import SqliteGroups
from samsa.ports import Unavailable
from samsa.runtime.upkeep import tend
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    consumer_group_heartbeat,
    find_coordinator,
    heartbeat,
    join_group,
    offset_commit,
    offset_fetch,
    sync_group,
)

GROUP, TOPIC, SESSION_MS = "family", "letters", 40_000
READ, WRITE = {"group": 1}, {"group": 1, "put_group": 1}


class Site:
    """One broker whose only client is a member of the group."""

    def __init__(self, folder: Path) -> None:
        path = str(folder / "ledger.db")
        self.clock = TurnedClock()
        self.ledger, self.groups = SqliteLedger(path), SqliteGroups(path)
        self.broker: Broker = a_broker(self.ledger, MemoryObjects(), self.clock, self.groups)
        self.member_id = ""

    async def spent(self, key: ApiKey, version: int, row: Any) -> tuple[Any, dict[str, int]]:
        """The answer, and the calls that it took, of both stores."""
        before = Counter(self.groups.calls) + Counter(self.ledger.calls)
        answer = await ask(self.broker, key, version, row)
        after = Counter(self.groups.calls) + Counter(self.ledger.calls)
        return answer, dict(after - before)

    async def join(self) -> tuple[Any, dict[str, int]]:
        row = join_group.REQUEST(
            group_id=GROUP,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=SESSION_MS,
            member_id=self.member_id,
            protocol_type="consumer",
            protocols=[join_group.PROTOCOL(name="range", metadata=b"")],
        )
        joined, cost = await self.spent(ApiKey.JOIN_GROUP, 9, row)
        self.member_id = joined.member_id
        return joined, cost

    async def settle(self) -> None:
        await self.join()
        await self.join()
        row = sync_group.REQUEST(group_id=GROUP, generation_id=1, member_id=self.member_id)
        synced, cost = await self.spent(ApiKey.SYNC_GROUP, 4, row)
        assert (synced.error_code, cost) == (ErrorCode.NONE, WRITE)

    async def beat(self) -> dict[str, int]:
        row = heartbeat.REQUEST(group_id=GROUP, generation_id=1, member_id=self.member_id)
        beaten, cost = await self.spent(ApiKey.HEARTBEAT, 4, row)
        assert beaten.error_code == ErrorCode.NONE
        return cost

    async def commit(self, partitions: int) -> dict[str, int]:
        row = offset_commit.REQUEST(
            group_id=GROUP,
            generation_id_or_member_epoch=1,
            member_id=self.member_id,
            topics=[
                offset_commit.TOPIC(
                    name=TOPIC,
                    partitions=[
                        offset_commit.PARTITION(partition_index=n, committed_offset=n)
                        for n in range(partitions)
                    ],
                )
            ],
        )
        answer, cost = await self.spent(ApiKey.OFFSET_COMMIT, 9, row)
        assert {p.error_code for p in answer.topics[0].partitions} == {ErrorCode.NONE}
        return cost


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    site = Site(tmp_path)
    await site.broker.catalog.create(TOPIC, 50, {})
    await site.broker.catalog.named(TOPIC)
    yield site
    await site.groups.close()
    await site.ledger.close()


async def test_a_join_that_is_answered_at_once_is_one_read_and_one_write(site: Site):
    asked, cost = await site.join()
    assert (asked.error_code, cost) == (ErrorCode.MEMBER_ID_REQUIRED, WRITE)
    joined, cost = await site.join()
    assert (joined.error_code, cost) == (ErrorCode.NONE, WRITE)


async def test_a_heartbeat_is_one_read_and_now_and_then_a_write(site: Site):
    await site.settle()
    costs = []
    for _ in range(16):
        costs.append(await site.beat())
        site.clock.turn(SESSION_MS // 16)
    assert all(cost in (READ, WRITE) for cost in costs)
    assert sum(cost == WRITE for cost in costs) <= 4


async def test_an_idle_member_that_beats_is_never_expired(site: Site):
    await site.settle()
    for _ in range(30):
        site.clock.turn(SESSION_MS - 1)
        await site.beat()


@pytest.mark.parametrize("partitions", [1, 50])
async def test_a_commit_is_one_read_and_one_write_however_many_partitions(
    site: Site, partitions: int
):
    await site.settle()
    assert await site.commit(partitions) == {"group": 1, "commit": 1}


async def test_a_fetch_of_young_offsets_is_one_read(site: Site):
    await site.settle()
    await site.commit(50)
    asked = offset_fetch.GROUP(group_id=GROUP, topics=None)
    row = offset_fetch.REQUEST(groups=[asked])
    answer, cost = await site.spent(ApiKey.OFFSET_FETCH, 9, row)
    assert len(answer.groups[0].topics[0].partitions) == 50
    assert cost == {"offsets": 1}


async def test_a_heartbeat_of_the_consumer_protocol_looks_up_topics_once_a_second(site: Site):
    async def beat(**more: Any) -> dict[str, int]:
        row = consumer_group_heartbeat.REQUEST(group_id=GROUP, member_id="kafka", **more)
        beaten, cost = await site.spent(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, row)
        assert beaten.error_code == ErrorCode.NONE, beaten
        return cost

    joining = {"rebalance_timeout_ms": 1000, "topic_partitions": []}
    cost = await beat(subscribed_topic_names=[TOPIC], **joining)
    assert cost == {**WRITE, "topics": 1}
    assert await beat(member_epoch=1) == READ
    site.clock.turn(1_000)
    assert await beat(member_epoch=1) == {**READ, "topics": 1}
    assert await beat(member_epoch=1) == READ


async def test_a_hundred_joins_that_come_together_cost_as_much_as_one(site: Site):
    """All are looked at and written once when they come, and looked at when they are woken: nobody
    polls."""
    members = 100
    row = join_group.REQUEST(
        group_id=GROUP,
        session_timeout_ms=SESSION_MS,
        rebalance_timeout_ms=SESSION_MS,
        protocol_type="consumer",
        protocols=[join_group.PROTOCOL(name="range", metadata=b"")],
    )
    first = await ask(site.broker, ApiKey.JOIN_GROUP, 3, row)
    before = Counter(site.groups.calls)
    parked = [
        asyncio.create_task(ask(site.broker, ApiKey.JOIN_GROUP, 3, row)) for _ in range(members)
    ]
    await asyncio.sleep(0.1)
    row.member_id = first.member_id
    joined = await ask(site.broker, ApiKey.JOIN_GROUP, 3, row)
    answers = await asyncio.gather(*parked)
    cost = Counter(site.groups.calls) - before
    assert len(joined.members) == members + 1
    assert {answer.generation_id for answer in answers} == {2}
    assert cost == {"group": 3, "put_group": 2}


async def test_only_the_first_search_for_a_coordinator_costs_anything(site: Site):
    row = find_coordinator.REQUEST(coordinator_keys=[GROUP])
    _, made = await site.spent(ApiKey.FIND_COORDINATOR, 4, row)
    assert made["create_topic"] == 1
    _, seen = await site.spent(ApiKey.FIND_COORDINATOR, 4, row)
    assert seen == {"topic": 1}
    site.clock.turn(24 * 3600 * 1000)
    _, later = await site.spent(ApiKey.FIND_COORDINATOR, 4, row)
    assert later == {}


async def test_a_coordinator_is_found_though_the_ledger_is_away(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    async def away(_name: str) -> None:
        raise Unavailable("on purpose")

    monkeypatch.setattr(site.ledger, "topic", away)
    row = find_coordinator.REQUEST(coordinator_keys=[GROUP])
    answer, _ = await site.spent(ApiKey.FIND_COORDINATOR, 4, row)
    assert [found.error_code for found in answer.coordinators] == [ErrorCode.NONE]


async def test_upkeep_does_not_look_at_the_brokers_own_topic(site: Site):
    async def round_of_upkeep() -> dict[str, int]:
        before = Counter(site.ledger.calls)
        await tend(site.broker)
        return dict(Counter(site.ledger.calls) - before)

    await round_of_upkeep()  # the first looks longer, at what it has never seen
    without = await round_of_upkeep()
    await site.spent(ApiKey.FIND_COORDINATOR, 4, find_coordinator.REQUEST(coordinator_keys=[GROUP]))
    assert await round_of_upkeep() == without
