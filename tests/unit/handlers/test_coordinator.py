"""The coordinator's shell: several processes, lost races, and stores that lose their answers."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from unit.handlers.processes import GROUP, SESSION_MS, Site, a_join, a_site, beat, joined

from samsa.coordinator.coordinator import Coordinator
from samsa.groups import GroupError, Leave, Leaving
from samsa.local.sqlite_groups import SqliteGroups
from samsa.ports import GroupItem, Unavailable


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with a_site(tmp_path) as site:
        yield site


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


@pytest.mark.waits
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


@pytest.mark.parametrize("alone", [False, True])
async def test_heartbeats_that_need_no_write_are_written_with_the_first_that_does(
    site: Site, alone: bool
):
    """Ten members, of which nine are answered here shortly before the tenth must be written."""
    process = site.process(alone=lambda: alone)
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
