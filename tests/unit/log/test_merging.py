"""Merging: what readers find is the same before and after, and what is left over goes."""

import pytest
from unit.log.given import PARTITION, Given, a_batch, a_log

from samsa.local.memory import MemoryObjects
from samsa.log.layout import Batch
from samsa.log.merge import Budget, Merged
from samsa.log.read import OutOfRange
from samsa.log.retain import Retention
from samsa.log.segments import is_segment_key
from samsa.ports import Extent, Missing, Unavailable
from samsa.records import Record, build, filler, read_header

GRACE = 1_000
OLD = 60_000


def plenty() -> Budget:
    return Budget(10**9, 10**6)


def stamped(timestamp: int, size: int = 1) -> Batch:
    data = bytearray(build([Record(0, timestamp, None, b"%d" % timestamp + b"." * size)]))
    return Batch(read_header(data), memoryview(data))


async def with_slots(slots: int, size: int = 1, **limits: int) -> Given:
    """One record each, of the times 1,000, 1,001, …; all of them old enough."""
    given = await a_log(sweep_grace_ms=GRACE, **limits)
    for number in range(slots):
        await given.log.append_once(PARTITION, [stamped(1_000 + number, size)])
    given.clock.now += OLD
    return given


async def index(given: Given) -> list[Extent]:
    return await given.ledger.extents(PARTITION, 0, 10_000)


async def keys(given: Given) -> list[str]:
    return [key async for key in given.objects.list("log/")]


async def merge(given: Given) -> Merged:
    return await given.log.merger.merge(PARTITION, plenty())


async def sweep(given: Given) -> None:
    """Found, and found again after the grace time."""
    await given.log.sweeper.sweep(PARTITION)
    given.clock.now += GRACE
    await given.log.sweeper.sweep(PARTITION)


async def test_small_slots_become_one_segment_that_reads_the_same():
    given = await with_slots(20)
    before = await given.values()
    assert await merge(given) == Merged(1, 19, sum(e.size for e in await index(given)))
    (segment,) = await index(given)
    assert (segment.base, segment.offsets, segment.records) == (0, 20, 20)
    assert is_segment_key(segment.key)
    assert await given.values() == before


async def test_a_reader_may_begin_anywhere_in_a_segment():
    given = await with_slots(30, size=20_000)
    before = [await given.values(offset) for offset in range(30)]
    await merge(given)
    (segment,) = await index(given)
    assert len(segment.marks) == 14
    for offset in range(30):
        plan = await given.log.plan(PARTITION, offset, 30_000)
        assert plan.size < 70_000
        assert (await given.values(offset))[-(30 - offset) :] == before[offset]


async def test_a_record_is_found_by_its_time_in_a_segment_without_reading_all_of_it():
    given = await with_slots(30, size=20_000)
    await merge(given)
    sizes: list[int] = []
    get = given.objects.get

    async def counted(key: str, start: int = 0, length: int | None = None):
        data = await get(key, start, length)
        sizes.append(len(data))
        return data

    given.objects.get = counted  # type: ignore[method-assign]
    for number in (0, 7, 29):
        found = await given.log.times.at(PARTITION, 1_000 + number)
        assert found == (number, 1_000 + number)
    assert await given.log.times.at(PARTITION, 1_030) is None
    assert await given.log.times.newest(PARTITION) == (29, 1_029)
    assert max(sizes) < 70_000
    assert len(sizes) == 4


async def test_the_newest_extents_are_left_alone():
    given = await with_slots(10)
    for number in range(5):
        await given.log.append_once(PARTITION, [a_batch(b"%d" % number)])
    await merge(given)
    assert [extent.offsets for extent in await index(given)] == [10, 1, 1, 1, 1, 1]


async def test_an_open_slot_and_what_lies_behind_it_stay():
    given = await with_slots(8)
    await given.ledger.reserve(PARTITION, f"1.{given.clock.now}.n", 1)
    await given.log.append_once(PARTITION, [a_batch()])
    given.clock.now += OLD // 10
    await merge(given)
    assert [extent.offsets for extent in await index(given)] == [8, 1]


async def test_the_old_objects_go_after_the_grace_time_and_not_before():
    given = await with_slots(10)
    await merge(given)
    assert len(await keys(given)) == 11
    await given.log.sweeper.sweep(PARTITION)
    given.clock.now += GRACE - 1
    await given.log.sweeper.sweep(PARTITION)
    assert len(await keys(given)) == 11
    given.clock.now += 1
    await given.log.sweeper.sweep(PARTITION)
    assert await keys(given) == [(await index(given))[0].key]
    assert await given.ledger.graves(PARTITION, 9) == []
    assert len(await given.values()) == 10


async def test_another_process_remembers_since_when_they_are_old():
    given = await with_slots(10)
    await merge(given)
    await given.log.sweeper.sweep(PARTITION)
    given.clock.now += GRACE
    await given.another().log.sweeper.sweep(PARTITION)
    assert len(await keys(given)) == 1


async def test_a_reader_who_planned_before_the_merge_still_finds_its_objects():
    given = await with_slots(10)
    plan = await given.log.plan(PARTITION, 0, 10_000)
    await merge(given)
    await given.log.sweeper.sweep(PARTITION)
    assert len(await given.log.load(plan.ranges)) == 10


async def test_a_second_merge_does_nothing_until_enough_has_come():
    given = await with_slots(10)
    await merge(given)
    assert await merge(given) == Merged()
    for number in range(5):
        await given.log.append_once(PARTITION, [a_batch(b"%d" % number)])
    given.clock.now += OLD
    await merge(given)
    assert [extent.offsets for extent in await index(given)] == [10, 5]


async def test_a_segment_that_is_full_is_never_looked_at_again():
    given = await with_slots(40, size=100, segment_bytes=2_000)
    await merge(given)
    cursor = await given.ledger.cursor(PARTITION, "merge")
    full = [extent for extent in await index(given) if extent.size > 1_000]
    assert cursor == full[-1].end > 0
    assert all(extent.size <= 2_000 for extent in full)


async def test_a_budget_ends_a_round_and_the_next_goes_on():
    given = await with_slots(40, size=100, segment_bytes=1_000)
    before = await given.values()
    one = await given.log.merger.merge(PARTITION, Budget(10**9, 2))
    assert (one.runs, one.finished) == (2, False)
    while not (await given.log.merger.merge(PARTITION, Budget(1, 1))).finished:
        pass
    assert len(await index(given)) <= 10
    assert await given.values() == before


async def test_of_two_janitors_one_wins_and_the_other_tidies_up():
    given = await with_slots(10)
    run = await index(given)
    assert await given.log.merger.copy(PARTITION, run) is not None
    assert await given.another().log.merger.copy(PARTITION, run) is None
    assert len(await keys(given)) == 11
    assert len(await given.ledger.graves(PARTITION, 9)) == 1
    assert len(await given.values()) == 10


async def test_a_segment_that_was_never_swapped_in_is_condemned_and_then_deleted():
    given = await with_slots(10, building_ms=5_000)
    run = await index(given)
    merger = given.log.merger

    async def stop(*_: object) -> bool:
        raise Unavailable("the process stops here")

    merger._swap = stop  # type: ignore[method-assign]
    with pytest.raises(Unavailable):
        await merger.copy(PARTITION, run)
    await sweep(given)
    assert len(await keys(given)) == 11
    given.clock.now += 5_000
    await sweep(given)
    assert len(await keys(given)) == 10
    assert await given.ledger.graves(PARTITION, 9) == []
    assert await index(given) == run


async def test_a_segment_that_was_condemned_is_not_swapped_in():
    given = await with_slots(10, building_ms=0)
    run = await index(given)
    merger, swap = given.log.merger, given.log.merger._swap

    async def late(*what) -> bool:
        await sweep(given)
        return await swap(*what)

    merger._swap = late  # type: ignore[method-assign]
    assert await merger.copy(PARTITION, run) is None
    assert await index(given) == run
    assert len(await given.values()) == 10


async def test_what_is_missing_ends_the_merge_and_leaves_the_index():
    given = await with_slots(10)
    before = await index(given)
    await given.objects.delete([before[5].key])
    with pytest.raises(Missing):
        await merge(given)
    assert await index(given) == before


async def test_what_is_cut_ends_the_merge_and_leaves_the_index():
    given = await with_slots(10)
    before = await index(given)
    await given.objects.delete([before[5].key])
    await given.objects.put_if_absent(before[5].key, [b"short"])
    with pytest.raises(Unavailable, match="5 bytes instead of"):
        await merge(given)
    assert await index(given) == before


async def test_a_segment_goes_by_time_when_its_newest_record_is_too_old():
    given = await with_slots(10)
    await merge(given)
    given.clock.now = 2_000
    retain = given.log.retainer.retain
    assert await retain(PARTITION, Retention(max_age_ms=991)) == 0
    assert await retain(PARTITION, Retention(max_age_ms=990)) == 10


async def test_records_are_deleted_from_inside_a_segment():
    given = await with_slots(10)
    before = await given.values()
    await merge(given)
    assert await given.log.retainer.delete_before(PARTITION, 4) == 4
    await sweep(given)
    with pytest.raises(OutOfRange):
        await given.log.plan(PARTITION, 3, 100)
    assert (await given.values(4))[-6:] == before[4:]
    assert await given.log.retainer.delete_before(PARTITION, 10) == 10
    await given.log.retainer.retain(PARTITION, Retention())
    given.clock.now += GRACE
    await given.log.retainer.retain(PARTITION, Retention())
    assert await keys(given) == []


async def test_a_writer_that_slept_through_a_merge_puts_what_nobody_reads():
    given = await with_slots(10)
    before = await given.values()
    slots = await index(given)
    await merge(given)
    await sweep(given)
    await given.objects.put_if_absent(slots[3].key, [b"filler of somebody who slept"])
    await given.ledger.index(PARTITION, slots[3])
    assert await given.values() == before


class Forgetful(MemoryObjects):
    """Stores the next put, and loses its answer; by the time it is asked again, all has happened
    to the slot that can."""

    given: Given
    filler: bytes
    lost = False

    async def put_if_absent(self, key, parts):
        stored = await super().put_if_absent(key, parts)
        if stored and self.lost:
            self.lost = False
            await self._age()
            if self.filler:
                await super().put_if_absent(key, [self.filler])
            raise Unavailable("the answer is lost")
        return stored

    async def _age(self) -> None:
        given = self.given.another()
        head = await given.ledger.head(PARTITION)
        await given.log.fencer.fence_all(PARTITION, head)
        given.clock.now += OLD
        await merge(given)
        await sweep(given)


@pytest.mark.parametrize("filled", [False, True], ids=["free", "filled by somebody late"])
async def test_a_writer_whose_slot_was_merged_and_swept_finds_it_in_the_index(filled: bool):
    """Its key is gone, or holds what is not its own: it is stored all the same, and once."""
    given = await with_slots(10)
    objects = Forgetful()
    objects._objects, objects.given = given.objects._objects, given
    objects.filler = filler(10, 1, -1) if filled else b""
    writer = Given(given.ledger, objects, given.limits, given.clock, given.nonces)
    objects.lost = True
    (outcome,) = await writer.log.append_once(PARTITION, [a_batch(b"only once")])
    assert outcome.offset == 10
    assert (await given.values()).count(b"only once") == 1
