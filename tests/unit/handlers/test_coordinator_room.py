"""What the coordinator refuses before anything is stored, and when it ends a session."""

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest
from unit.handlers.processes import GROUP, SESSION_MS, Site, a_join, a_site, beat, joined

from samsa.broker.work import Work
from samsa.coordinator.coordinator import Coordinator
from samsa.groups import ConsumerHeartbeat, GroupError, Sync, Synced, TopicInfo, state_of, unpack
from samsa.ports import GroupItem

FULL = GroupError.GROUP_MAX_SIZE_REACHED
ITEM = 400 * 1024
noise = random.Random(19).randbytes


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with a_site(tmp_path) as site:
        yield site


async def crowd(process: Coordinator, most: int) -> list[str]:
    """Members with 4 KB of their own each, one after the other, until one is refused."""
    members: list[str] = []
    for _ in range(most):
        join = a_join(process)._replace(protocols=(("range", noise(4_096)),), instance_id=None)
        answer = await process.ask(GROUP, join._replace(requires_id=True))
        if answer.error is FULL:
            break
        members.append(answer.member_id)
        again = join._replace(member_id=answer.member_id, instance_id=None)
        process._background.start(process.ask(GROUP, again))
        if not await is_parked(process, answer.member_id):
            return members[:-1]
    return members


async def is_parked(process: Coordinator, member_id: str) -> bool:
    """Once the join is parked, or refused."""
    while not process.refused:
        await asyncio.sleep(0)
        group, _ = await process.look(GROUP)
        if group is not None and member_id in group.members:
            return True
    return False


async def stored(process: Coordinator) -> int:
    item = await process.groups.group(GROUP)
    return len(item.state) if item else 0


async def test_a_group_that_is_full_refuses_the_newcomer_and_keeps_its_members(site: Site):
    process = site.process(initial_rebalance_delay_ms=60_000)
    members = await crowd(process, 110)
    assert 30 < len(members) < 110
    assert process.refused
    size = await stored(process)
    assert 200_000 < size < ITEM
    group, _ = await process.look(GROUP)
    assert group is not None
    assert list(group.members) == members
    while group.pending:
        await asyncio.sleep(0)
        group, _ = await process.look(GROUP)


async def test_a_join_with_more_than_an_item_holds_stores_nothing(site: Site):
    process = site.process()
    large = a_join(process)._replace(protocols=(("range", noise(500_000)),))
    assert (await process.ask(GROUP, large)).error is FULL
    assert await process.groups.group(GROUP) is None


async def test_assignments_that_do_not_fit_are_refused_and_the_leader_may_try_again(site: Site):
    process = site.process()
    member = await joined(process)
    before = await stored(process)
    answer = await process.ask(GROUP, Sync(member, 1, assignments={member: noise(500_000)}))
    assert isinstance(answer, Synced)
    assert answer.error is FULL
    assert await stored(process) == before
    answer = await process.ask(GROUP, Sync(member, 1, assignments={member: noise(100_000)}))
    assert answer.error is None


async def test_members_of_a_group_with_large_assignments_may_join_again(site: Site):
    process = site.process()
    member = await joined(process)
    await process.ask(GROUP, Sync(member, 1, assignments={member: noise(350_000)}))
    again = a_join(process, member)._replace(protocols=(("range", b"changed"),))
    assert (await process.ask(GROUP, again)).generation == 2
    assert await beat(process, member, 2) is None


async def test_who_asks_beside_a_request_that_is_too_large_is_served(site: Site):
    process = site.process()
    member = await joined(process)
    large = Sync(member, 1, assignments={member: noise(500_000)})
    refused = process._in_turn(GROUP, large)
    served = process._in_turn(GROUP, Sync(member, 1, assignments={member: b"mine"}))
    assert (await refused).error is FULL
    assert (await served).assignment == b"mine"


class ManyTopics:
    """More partitions than a group has room for."""

    def __init__(self) -> None:
        self.work = Work()
        self.topics = {"t": TopicInfo(UUID(int=1), 4)}

    async def at(self, _now: int, _fresh: bool = False) -> dict[str, TopicInfo]:
        return self.topics

    async def matches(
        self, patterns: set[str], topics: dict[str, TopicInfo]
    ) -> dict[str, tuple[str, ...]]:
        return {pattern: tuple(topics) for pattern in patterns}


async def test_a_consumer_whose_pattern_matches_too_much_keeps_what_it_has(site: Site):
    process, known = site.process(), ManyTopics()
    process._topics = known
    heartbeat = ConsumerHeartbeat(
        "m", 0, rebalance_timeout_ms=1_000, topics=(), pattern="t.*", owned=frozenset()
    )
    answer = await process.ask(GROUP, heartbeat)
    assert answer.error is None
    assert len(answer.assignment) == 4
    ids = [TopicInfo(UUID(bytes=noise(16)), 1) for _ in range(20_000)]
    known.topics = {**known.topics, **{f"t{n}-{info.id}": info for n, info in enumerate(ids)}}
    answer = await process.ask(GROUP, ConsumerHeartbeat("m", answer.epoch))
    assert answer.error is None
    assert await stored(process) < ITEM
    assert (await process.ask(GROUP, heartbeat._replace(member_id="n"))).error is None
    group, _ = await process.look(GROUP)
    assert list(group.topics) == ["t"]


async def test_a_process_that_hears_a_member_ends_its_session_when_it_is_over(site: Site):
    process = site.process(exact_sessions=True)
    silent = await joined(process)
    await process.ask(GROUP, Sync(silent, 1, assignments={}))
    site.clock.now += SESSION_MS // 4 - 1
    assert await beat(process, silent) is None
    site.clock.now += SESSION_MS - 1
    group, _ = await process.look(GROUP)
    assert state_of(group) == "Stable"
    site.clock.now += 1
    group, _ = await process.look(GROUP)
    assert state_of(group) == "Empty"


async def test_a_member_that_moved_to_another_process_is_not_ended_by_the_first(site: Site):
    one, two = (site.process(exact_sessions=True) for _ in range(2))
    member = await joined(one)
    await one.ask(GROUP, Sync(member, 1, assignments={}))
    for _ in range(30):
        site.clock.now += SESSION_MS // 5
        assert await beat(two, member) is None
        group, _ = await one.look(GROUP)
        assert state_of(group) == "Stable"


async def test_a_clock_that_is_set_back_does_not_prolong_what_was_heard(site: Site):
    process = site.process(exact_sessions=True)
    silent, clock = await joined(process), site.clock
    await process.ask(GROUP, Sync(silent, 1, assignments={}))
    assert await beat(process, silent) is None
    clock.now -= 3_600_000
    await process.tidy(GROUP)
    clock.now += SESSION_MS
    await process.tidy(GROUP)
    group, _ = await process.look(GROUP)
    assert state_of(group) == "Empty"


async def test_a_group_that_cannot_be_read_begins_anew(site: Site):
    process = site.process()
    await process.groups.put_group(GROUP, GroupItem(7, b"\x01of an older version"), 0)
    assert await joined(process)
    item = await process.groups.group(GROUP)
    assert item is not None
    assert len(unpack(item.state).members) == 1
