"""How many groups there may be; and that asking for others does not harm those that there are."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from faults.inside import TurnedClock, a_broker, ask

from samsa.broker.broker import Broker, Rules
from samsa.coordinator import group_queue
from samsa.coordinator.group_queue import GroupQueues
from samsa.groups import GroupSettings
from samsa.local.memory import MemoryObjects
from samsa.local.sqlite import SqliteLedger
from samsa.local.sqlite_groups import SqliteGroups
from samsa.ports.bounds import LONGEST_GROUP_ID
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import (
    consumer_group_heartbeat,
    delete_groups,
    heartbeat,
    join_group,
    leave_group,
    offset_commit,
    sync_group,
)

MOST = 3
TOO_LONG = "g" * (LONGEST_GROUP_ID + 1)


class Site:
    def __init__(self, folder: Path) -> None:
        path = str(folder / "ledger.db")
        self.clock = TurnedClock()
        self.ledger = SqliteLedger(path)
        self.groups = SqliteGroups(path)
        stores = a_broker(self.ledger, MemoryObjects(), self.clock).stores
        rules = Rules(max_groups=MOST, groups=GroupSettings(initial_rebalance_delay_ms=0))
        self.broker = Broker(stores, "cluster", rules, groups=self.groups)

    async def join(self, group_id: str) -> ErrorCode:
        row = join_group.REQUEST(
            group_id=group_id,
            session_timeout_ms=10_000,
            rebalance_timeout_ms=10_000,
            protocol_type="consumer",
            protocols=[join_group.PROTOCOL(name="range", metadata=b"")],
        )
        answer = await ask(self.broker, ApiKey.JOIN_GROUP, 3, row)
        return ErrorCode(answer.error_code)

    async def beat(self, group_id: str) -> ErrorCode:
        row = consumer_group_heartbeat.REQUEST(
            group_id=group_id,
            rebalance_timeout_ms=10_000,
            subscribed_topic_names=["t"],
            topic_partitions=[],
        )
        answer = await ask(self.broker, ApiKey.CONSUMER_GROUP_HEARTBEAT, 0, row)
        return ErrorCode(answer.error_code)

    async def commit(self, group_id: str) -> ErrorCode:
        partition = offset_commit.PARTITION(partition_index=0, committed_offset=1)
        topic = offset_commit.TOPIC(name="t", partitions=[partition])
        row = offset_commit.REQUEST(group_id=group_id, topics=[topic])
        answer = await ask(self.broker, ApiKey.OFFSET_COMMIT, 7, row)
        return ErrorCode(answer.topics[0].partitions[0].error_code)


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    site = Site(tmp_path)
    await site.broker.catalog.create("t", 1, {})
    yield site
    await site.broker.background_done()
    await site.groups.close()
    await site.ledger.close()


async def test_one_group_more_than_allowed_is_refused_and_counted(site: Site):
    assert await site.join("a") == ErrorCode.NONE
    assert await site.beat("b") == ErrorCode.NONE
    assert await site.commit("c") == ErrorCode.NONE
    for way in (site.join, site.beat, site.commit):
        assert await way("d") == ErrorCode.POLICY_VIOLATION
    assert site.broker.refused == {"groups": 3}
    assert await site.groups.group_ids() == ["a", "b", "c"]


async def test_groups_that_there_are_go_on_when_there_are_too_many(site: Site):
    for group_id in "abc":
        assert await site.commit(group_id) == ErrorCode.NONE
    assert await site.join("d") == ErrorCode.POLICY_VIOLATION
    assert await site.join("a") == ErrorCode.NONE
    assert await site.commit("b") == ErrorCode.NONE


async def test_a_group_that_was_deleted_makes_room_within_a_second(site: Site):
    for group_id in "abc":
        await site.commit(group_id)
    row = delete_groups.REQUEST(groups_names=["a"])
    await ask(site.broker, ApiKey.DELETE_GROUPS, 0, row)
    site.clock.turn(1_000)
    assert await site.commit("d") == ErrorCode.NONE


@pytest.mark.parametrize("name", [TOO_LONG, "g" * 30_000])
async def test_a_name_that_is_too_long_is_refused(site: Site, name: str):
    assert await site.join(name) == ErrorCode.INVALID_GROUP_ID
    assert await site.beat(name) == ErrorCode.INVALID_GROUP_ID
    assert await site.commit(name) == ErrorCode.INVALID_GROUP_ID
    for key, message in (
        (ApiKey.HEARTBEAT, heartbeat.REQUEST),
        (ApiKey.LEAVE_GROUP, leave_group.REQUEST),
        (ApiKey.SYNC_GROUP, sync_group.REQUEST),
    ):
        answer = await ask(site.broker, key, 0, message(group_id=name))
        assert answer.error_code == ErrorCode.INVALID_GROUP_ID
    assert await site.groups.group_ids() == []


def test_groups_that_do_not_exist_take_no_seat_from_those_that_do(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(group_queue, "REMEMBERED", 10)
    there = GroupQueues()
    for number in range(5):
        there.of(f"real{number}").group = object()  # type: ignore[assignment]
    for number in range(1_000):
        there.of(f"unreal{number}")
    assert len(there) == 10
    assert [there.get(f"real{number}") is not None for number in range(5)] == [True] * 5


def test_names_that_are_too_long_are_not_remembered():
    there = GroupQueues()
    there.of(TOO_LONG)
    assert len(there) == 0
