"""Slots that are fenced, swept or lost while someone is at work on them."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from unit.log.given import PARTITION, Given, a_batch, a_log, sequenced

from samsa.local.memory import MemoryObjects
from samsa.log.retain import Retention
from samsa.log.stores import slot_key
from samsa.ports import Missing, Unavailable
from samsa.records import filler

Meanwhile = Callable[[], Awaitable[object]]


class Interrupted(MemoryObjects):
    """Before the next put, something else happens."""

    meanwhile: Meanwhile | None = None

    async def put_if_absent(self, key, parts):
        if self.meanwhile is not None:
            happen, self.meanwhile = self.meanwhile, None
            await happen()
        return await super().put_if_absent(key, parts)


async def interrupted(meanwhile: Callable[[Given], Awaitable[object]], **limits: int) -> Given:
    """A log that another process gets at just before its first put."""
    given = await a_log(**limits)
    given = replace(given, objects=Interrupted())
    other = given.another()
    given.objects.meanwhile = lambda: meanwhile(other)
    return given


async def fence(other: Given) -> None:
    other.clock.now += other.limits.fence_after_ms
    await other.log.head(PARTITION)


async def fence_and_sweep(other: Given) -> None:
    await fence(other)
    await other.log.append_once(PARTITION, [a_batch(b"later")])
    for _ in range(2):
        await other.log.retainer.retain(PARTITION, Retention(max_bytes=1))
        other.clock.now += other.limits.sweep_grace_ms


async def test_a_writer_that_sleeps_through_its_fence_takes_a_new_slot():
    given = await interrupted(fence)
    (outcome,) = await given.log.append_once(PARTITION, [a_batch(b"a", b"b")])
    assert outcome.offset == 2
    assert await given.values() == [b"a", b"b"]


async def test_a_writer_that_sleeps_through_its_fence_and_a_sweep_does_not_answer():
    given = await interrupted(fence_and_sweep)
    with pytest.raises(Unavailable, match="aged out"):
        await given.log.append_once(PARTITION, [a_batch(b"a")])


async def test_an_idempotent_batch_takes_a_new_slot_too_and_is_stored_once():
    given = await interrupted(fence)
    (outcome,) = await given.log.append_once(PARTITION, [sequenced(0)])
    (again,) = await given.another().log.append_once(PARTITION, [sequenced(0)])
    assert again.offset == outcome.offset
    assert await given.values() == [b"0"]


async def test_blanks_that_lost_to_a_fence_are_indexed_as_they_lie():
    async def fill(other: Given) -> None:
        await other.objects.put_if_absent(slot_key(PARTITION, 0), [filler(0, 2, -1)])

    given = await interrupted(fill)
    bind = given.ledger.bind

    async def lose(*args: object) -> bool:
        given.ledger.bind = bind
        return False

    given.ledger.bind = lose
    await given.log.append_once(PARTITION, [sequenced(0), sequenced(1)])
    await given.log.drain()
    for extent in await given.ledger.extents(PARTITION, 0, 9):
        assert extent.size == len(await given.objects.get(extent.key))
    assert await given.values() == [b"0", b"1"]


async def test_a_stale_slot_is_closed_by_whoever_looks():
    given = await a_log()
    await given.ledger.reserve(PARTITION, f"3.{given.clock.now}.n", 3)
    assert (await given.log.head(PARTITION)).visible_end == 0
    given.clock.now += given.limits.fence_after_ms
    head = await given.log.head(PARTITION)
    assert (head.visible_end, head.inflight) == (3, {})


async def test_a_slot_that_was_written_keeps_its_data_when_it_is_fenced():
    given = await a_log()
    confirm = given.ledger.confirm

    async def unavailable(*args: object) -> None:
        raise Unavailable("down")

    given.ledger.confirm = unavailable
    given = replace(given, limits=replace(given.limits, attempts=1))
    with pytest.raises(Unavailable):
        await given.log.append_once(PARTITION, [a_batch(b"kept")])
    given.ledger.confirm = confirm
    await fence(given)
    assert await given.values() == [b"kept"]


async def test_slots_that_nobody_indexed_are_found_and_indexed():
    given = await a_log()
    for value in (b"a", b"b", b"c"):
        await given.log.append_once(PARTITION, [a_batch(value)])
    await given.ledger.drop_extents(PARTITION, 3)
    assert await given.values(1) == [b"b", b"c"]
    assert [extent.base for extent in await given.ledger.extents(PARTITION, 0, 9)] == [0, 1, 2]


async def test_an_extent_that_came_too_late_misleads_nobody():
    given = await a_log()
    for value in (b"a", b"b", b"c", b"d"):
        await given.log.append_once(PARTITION, [a_batch(value)])
    (late,) = await given.ledger.extents(PARTITION, 0, 1)
    await given.ledger.advance_start(PARTITION, 2)
    await given.ledger.drop_extents(PARTITION, 4)
    await given.objects.delete([key async for key in given.objects.list("")][:2])
    await given.ledger.index(PARTITION, late)
    assert await given.values(2) == [b"c", b"d"]


async def test_a_reader_whose_objects_were_swept_hears_of_it():
    given = await a_log(sweep_grace_ms=0)
    for value in (b"a", b"b"):
        await given.log.append_once(PARTITION, [a_batch(value)])
    plan = await given.log.plan(PARTITION, 0, 1_000)
    await given.log.retainer.retain(PARTITION, Retention(max_bytes=1))
    with pytest.raises(Missing):
        await given.log.load(plan.ranges)
