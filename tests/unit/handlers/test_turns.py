"""Requests of one group in one process: those that come together share a turn and a write, and
nobody hears of anything that is not stored."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from unit.handlers.processes import GROUP, SESSION_MS, Site, a_join, a_site, beat, joined

from samsa.coordinator.coordinator import Coordinator
from samsa.groups import GroupError, Heartbeat, Joined, Leave, Leaving, Parked, Sync
from samsa.local.sqlite_groups import SqliteGroups
from samsa.ports import GroupItem, Misconfigured, Unavailable


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with a_site(tmp_path) as site:
        yield site


class Slow(SqliteGroups):
    """Its puts wait until they may go on."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.free = asyncio.Event()
        self.free.set()

    async def put_group(self, group_id: str, item: GroupItem, after: int) -> bool:
        await self.free.wait()
        stored: bool = await super().put_group(group_id, item, after)
        return stored


def asked(process: Coordinator, *requests: Any) -> "list[asyncio.Task[Any]]":
    return [asyncio.create_task(process.ask(GROUP, each)) for each in requests]


async def a_while() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def slowed(process: Coordinator) -> asyncio.Event:
    assert isinstance(process.groups, Slow)
    process.groups.free.clear()
    return process.groups.free


async def test_nobody_is_answered_before_what_it_is_told_is_stored(site: Site):
    process = site.process(Slow)
    member = await joined(process)
    free = slowed(process)
    given_id, left, beaten = asked(
        process,
        a_join(process)._replace(requires_id=True),
        Leave((Leaving(member),)),
        Heartbeat(member, 1),
    )
    await a_while()
    # The heartbeat's answer is that its member has left, which is not true yet.
    assert not any(each.done() for each in (given_id, left, beaten))
    free.set()
    assert (await given_id).error is GroupError.MEMBER_ID_REQUIRED
    assert (await left).members[0].error is None
    assert (await beaten).error is GroupError.UNKNOWN_MEMBER_ID


async def test_those_who_come_while_one_is_stored_are_stored_together(site: Site):
    process = site.process(Slow)
    free = slowed(process)
    first = asked(process, a_join(process)._replace(requires_id=True))
    await a_while()
    others = asked(process, *[a_join(process)._replace(requires_id=True) for _ in range(9)])
    await a_while()
    free.set()
    ids = {(await each).member_id for each in (*first, *others)}
    assert len(ids) == 10
    group, _ = await process.look(GROUP)
    assert group is not None
    assert set(group.pending) == ids  # type: ignore[union-attr]
    assert process.groups.calls["put_group"] == 2


async def test_who_completes_a_rebalance_answers_those_who_came_with_it(site: Site):
    """Though they were parked before it, in the same turn, and nobody wakes them."""
    process = site.process()
    first = await joined(process)
    newcomers = [a_join(process) for _ in range(5)]
    answers = await asyncio.gather(*asked(process, *newcomers, a_join(process, first)))
    assert {(answer.error, answer.generation) for answer in answers} == {(None, 2)}
    syncs = [Sync(answer.member_id, 2) for answer in answers]
    shares = {answer.member_id: answer.member_id.encode() for answer in answers}
    synced = await asyncio.gather(
        *asked(process, *syncs[:5], syncs[5]._replace(assignments=shares))
    )
    assert [answer.assignment for answer in synced] == list(shares.values())
    assert process.groups.calls == {"group": 3, "put_group": 3}


class Overtaken(SqliteGroups):
    """Somebody else stores a state of its own just before this process does, once."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.other: GroupItem | None = None

    async def put_group(self, group_id: str, item: GroupItem, after: int) -> bool:
        if self.other is not None:
            other, self.other = self.other, None
            assert await super().put_group(group_id, other, after)
        stored: bool = await super().put_group(group_id, item, after)
        return stored


async def test_a_turn_that_loses_its_race_is_stepped_again_for_everyone(site: Site):
    process = site.process(Overtaken)
    members = [await joined(process)]
    before = await process.groups.group(GROUP)
    assert before is not None
    await process.ask(GROUP, Leave((Leaving(members[0]),)))
    left = await process.groups.group(GROUP)
    assert left is not None
    # Somebody else brings the member back, while three leave or come.
    process.groups.other = GroupItem(left.version + 1, before.state)  # type: ignore[attr-defined]
    gone, *come = await asyncio.gather(
        *asked(
            process,
            Leave((Leaving(members[0]),)),
            *[a_join(process)._replace(requires_id=True) for _ in range(2)],
        )
    )
    assert gone.members[0].error is None
    group, _ = await process.look(GROUP)
    assert group is not None
    assert not group.members
    assert set(group.pending) == {each.member_id for each in come}  # type: ignore[union-attr]


class Odd(NamedTuple):
    """No request that anybody knows."""

    member_id: str = ""


async def test_a_request_that_nobody_expected_fails_alone(site: Site):
    process = site.process()
    join = a_join(process)._replace(requires_id=True)
    odd, fine = asked(process, Odd(), join)
    assert (await fine).error is GroupError.MEMBER_ID_REQUIRED
    with pytest.raises(KeyError):
        await odd


class Misled(SqliteGroups):
    async def group(self, group_id: str, known: int = 0) -> GroupItem | None:
        raise Misconfigured("there is no such table")


async def test_all_of_a_turn_are_told_that_the_store_is_unavailable(site: Site):
    process = site.process(Misled)
    for each in asked(process, a_join(process), Heartbeat("m", 1), Leave((Leaving("m"),))):
        with pytest.raises(Unavailable):
            await each


async def test_a_request_whose_client_has_gone_before_its_turn_is_not_stepped(site: Site):
    process = site.process(Slow)
    member = await joined(process)
    free = slowed(process)
    under_way = asked(process, a_join(process)._replace(requires_id=True))[0]
    await a_while()
    waiting = asked(process, Leave((Leaving(member),)))[0]
    await a_while()
    waiting.cancel()
    free.set()
    await under_way
    await process.drain()
    assert await beat(process, member) is None


# Alone with the store


class Alone:
    def __init__(self) -> None:
        self.alone = True

    def __call__(self) -> bool:
        return self.alone


async def test_alone_a_heartbeat_asks_the_store_for_nothing(site: Site):
    process = site.process(alone=Alone())
    member = await joined(process)
    before = dict(process.groups.calls)
    assert await beat(process, member) is None
    assert await beat(process, member, 7) is GroupError.ILLEGAL_GENERATION
    assert await beat(process, "nobody") is GroupError.UNKNOWN_MEMBER_ID
    assert process.groups.calls == before


async def test_alone_a_session_is_prolonged_by_heartbeats_that_asked_for_nothing(site: Site):
    process = site.process(alone=Alone())
    member = await joined(process)
    for _ in range(20):
        site.clock.now += SESSION_MS // 8
        assert await beat(process, member) is None
    assert process.groups.calls["put_group"] > 2
    # As anybody sees who comes later.
    assert await beat(site.process(), member) is None


async def test_who_has_let_others_in_asks_again(site: Site):
    alone = Alone()
    process = site.process(alone=alone)
    member = await joined(process)
    assert await beat(process, member) is None
    alone.alone = False
    await site.process().ask(GROUP, Leave((Leaving(member),)))
    assert await beat(process, member) is GroupError.UNKNOWN_MEMBER_ID


async def test_a_group_that_this_process_deleted_is_not_answered_for(site: Site):
    process = site.process(alone=Alone())
    member = await joined(process)
    _, version = await process.look(GROUP)
    assert await process.groups.delete_group(GROUP, version)
    assert await beat(process, member) is GroupError.UNKNOWN_MEMBER_ID
    assert await process.look(GROUP) == (None, 0)


class Forgetful(SqliteGroups):
    """Fails once it has been told to, and nobody knows whether it stored anything."""

    fails = False

    def _put(self, group_id: str, item: GroupItem, after: int) -> bool:
        if self.fails:
            raise Misconfigured("who knows")
        return super()._put(group_id, item, after)


async def test_after_a_write_that_failed_the_store_is_asked(site: Site):
    process = site.process(Forgetful, alone=Alone())
    member = await joined(process)
    process.groups.fails = True  # type: ignore[attr-defined]
    with pytest.raises(Unavailable):
        await process.ask(GROUP, Leave((Leaving(member),)))
    before = process.groups.calls["group"]
    assert await beat(process, member) is None
    assert process.groups.calls["group"] == before + 1


async def test_a_parked_join_of_a_process_that_is_alone_is_answered(site: Site):
    process = site.process(alone=Alone())
    first = await joined(process)
    parked = asked(process, a_join(process))[0]
    await a_while()
    assert await beat(process, first) is GroupError.REBALANCE_IN_PROGRESS
    again = await process.ask(GROUP, a_join(process, first))
    assert isinstance(again, Joined)
    answer = await parked
    assert not isinstance(answer, Parked)
    assert answer.generation == again.generation == 2
