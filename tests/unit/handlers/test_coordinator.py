"""The coordinator's shell: several processes, lost races, and stores that lose their answers."""

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

import pytest

from samsa.groups import Beaten, GroupError, Heartbeat, Join, Joined, Leave, Leaving, Settings
from samsa.handlers.coordinator import Coordinator
from samsa.handlers.known_topics import KnownTopics
from samsa.local.memory import MemoryObjects
from samsa.local.sqlite import SqliteLedger
from samsa.local.sqlite_groups import SqliteGroups
from samsa.local.wakeups import LocalWakeups
from samsa.log.stores import Limits, Stores
from samsa.ports import GroupItem, Unavailable

GROUP, SESSION_MS = "family", 10_000
numbers = count()


class Clock:
    now = 1_700_000_000_000

    def now_ms(self) -> int:
        return self.now


class Site:
    """Processes on one store: each has a coordinator of its own."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "ledger.db")
        self.clock = Clock()
        self.ledger = SqliteLedger(self.path)
        self.opened: list[SqliteGroups] = []

    def process(self, kind: type[SqliteGroups] = SqliteGroups) -> Coordinator:
        self.opened.append(kind(self.path))
        stores = Stores(
            self.ledger,
            MemoryObjects(),
            self.clock,
            LocalWakeups(f"127.0.0.1|{next(numbers)}"),
            lambda: f"n{next(numbers)}",
            Limits(backoff_ms=1),
        )
        settings = Settings(initial_rebalance_delay_ms=0)
        return Coordinator(stores, self.opened[-1], settings, KnownTopics(self.ledger.topics))


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    site = Site(tmp_path)
    yield site
    for groups in site.opened:
        await groups.close()
    await site.ledger.close()


def a_join(process: Coordinator, member_id: str = "") -> Join:
    return Join(
        member_id=member_id,
        instance_id=None,
        protocol_type="consumer",
        protocols=(("range", b""),),
        session_timeout_ms=SESSION_MS,
        rebalance_timeout_ms=60_000,
        client_id="client",
        client_host="/127.0.0.1",
        ticket=process.ticket(GROUP),
        waiter=process.waiter,
        requires_id=False,
    )


async def joined(process: Coordinator) -> str:
    answer = await process.ask(GROUP, a_join(process))
    assert isinstance(answer, Joined)
    assert answer.error is None
    return answer.member_id


async def beat(process: Coordinator, member_id: str, generation: int = 1) -> GroupError | None:
    answer = await process.ask(GROUP, Heartbeat(member_id, generation))
    assert isinstance(answer, Beaten)
    return answer.error


async def test_what_one_process_stored_another_sees_at_once(site: Site):
    one, two = site.process(), site.process()
    member = await joined(one)
    assert await beat(two, member) is None
    await two.ask(GROUP, Leave((Leaving(member),)))
    assert await beat(one, member) is GroupError.UNKNOWN_MEMBER_ID


async def test_a_group_that_was_deleted_and_made_anew_is_not_taken_for_the_old_one(site: Site):
    """Though both have been stored equally often."""
    one, two = site.process(), site.process()
    old = await joined(one)
    assert await beat(one, old) is None
    _, version = await two.look(GROUP)
    assert await two.groups.delete_group(GROUP, version)
    new = await joined(two)
    assert await beat(one, old) is GroupError.UNKNOWN_MEMBER_ID
    assert await beat(one, new) is None


async def test_a_parked_join_is_answered_by_the_process_that_completes_it(site: Site):
    one, two = site.process(), site.process()
    first = await joined(one)
    parked = asyncio.create_task(two.ask(GROUP, a_join(two)))
    await asyncio.sleep(0)
    assert not parked.done()
    assert await beat(one, first) is GroupError.REBALANCE_IN_PROGRESS
    again = await one.ask(GROUP, a_join(one, first))
    # No datagrams here: the parked one finds out by its own next look, after some seconds.
    assert (await parked).generation == again.generation == 2  # type: ignore[union-attr]


class Overtaken(SqliteGroups):
    """Somebody else stores something each time just before this process does, three times."""

    left = 3

    async def put_group(self, group_id: str, item: GroupItem, after: int) -> bool:
        if self.left:
            self.left -= 1
            there = await super().group(group_id)
            assert there is not None
            await super().put_group(group_id, there._replace(version=there.version + 1), after)
        stored: bool = await super().put_group(group_id, item, after)
        return stored


async def test_who_loses_a_race_steps_again_on_what_the_winner_left(site: Site):
    member = await joined(site.process())
    loser = site.process(Overtaken)
    answer = await loser.ask(GROUP, Leave((Leaving(member),)))
    assert answer.members[0].error is None  # type: ignore[union-attr]
    assert site.opened[-1].left == 0  # type: ignore[attr-defined]
    group, _ = await loser.look(GROUP)
    assert group is not None
    assert not group.members


class Forgetful(SqliteGroups):
    """Stores what it is given, and does not say so the first time."""

    lost = 0
    overtakes = False

    async def put_group(self, group_id: str, item: GroupItem, after: int) -> bool:
        stored: bool = await super().put_group(group_id, item, after)
        if not self.lost:
            self.lost += 1
            if self.overtakes:
                next_item = item._replace(version=item.version + 1)
                await super().put_group(group_id, next_item, item.version)
            raise Unavailable("the answer was lost")
        return stored


async def test_a_write_whose_answer_was_lost_counts_once(site: Site):
    process = site.process(Forgetful)
    member = await joined(process)
    assert await beat(process, member) is None
    group, _ = await process.look(GROUP)
    assert group is not None
    assert list(group.members) == [member]


class ForgetfulAndOvertaken(Forgetful):
    overtakes = True


async def test_a_write_that_may_have_been_answered_by_another_step_is_not_stepped_twice(site: Site):
    with pytest.raises(Unavailable):
        await joined(site.process(ForgetfulAndOvertaken))


async def test_heartbeats_that_need_no_write_are_written_with_the_first_that_does(site: Site):
    """Ten members, of which nine are heard here shortly before the tenth must be written."""
    process = site.process()
    everyone = await crowd(process, 10)
    generation = (await process.look(GROUP))[0].generation  # type: ignore[union-attr]
    site.clock.now += SESSION_MS // 5
    before = process.groups.calls["put_group"]
    for member in everyone[1:]:
        assert await beat(process, member, generation) is None
    assert process.groups.calls["put_group"] == before
    site.clock.now += SESSION_MS // 5
    assert await beat(process, everyone[0], generation) is None
    assert process.groups.calls["put_group"] == before + 1
    # Without that heartbeat, its session would have ended by now: after ten seconds and a fourth.
    site.clock.now += 9_000
    assert await beat(site.process(), everyone[1], generation) is None


async def crowd(process: Coordinator, size: int) -> list[str]:
    """So many members who have joined; nobody syncs, and nobody minds for a while."""
    first = await joined(process)
    parked = [asyncio.create_task(process.ask(GROUP, a_join(process))) for _ in range(size - 1)]
    await asyncio.sleep(0.01)
    await process.ask(GROUP, a_join(process, first))
    return [first, *[(await each).member_id for each in parked]]  # type: ignore[union-attr]
