"""Merging: what readers find is the same before and after, and what is left over goes."""

from collections.abc import AsyncIterator
from unittest.mock import patch

import pytest
from unit.log.given import PARTITION, Given, a_batch, a_log

from samsa.log.layout import Batch
from samsa.log.merge import Merged, RoundBudget
from samsa.log.read import OutOfRange
from samsa.log.retain import Retention
from samsa.ports import Buffer, Missing, PendingDeletion, Unavailable
from samsa.records import Record, build, read_header

GRACE = 1_000
OLD = 60_000


def plenty() -> RoundBudget:
    return RoundBudget(10**9, 10**6)


def stamped(timestamp: int, size: int = 1) -> Batch:
    data = bytearray(build([Record(0, timestamp, None, b"%d" % timestamp + b"." * size)]))
    return Batch(read_header(data), memoryview(data))


async def with_appends(appends: int, size: int = 1, **limits: int) -> Given:
    """One record each, of the times 1,000, 1,001, …; all of them old enough."""
    given = await a_log(sweep_grace_ms=GRACE, **limits)
    for number in range(appends):
        await given.append(stamped(1_000 + number, size))
    given.clock.now += OLD
    return given


async def deletions(given: Given) -> list[PendingDeletion]:
    return await given.ledger.pending_deletions(PARTITION, 99)


async def merge(given: Given) -> Merged:
    return await given.log.merger.merge(PARTITION, plenty())


async def sweep(given: Given) -> None:
    """Found, and found again after the grace time."""
    await given.log.sweeper.sweep(PARTITION)
    given.clock.now += GRACE
    await given.log.sweeper.sweep(PARTITION)


async def test_small_appends_become_one_segment_that_reads_the_same():
    given = await with_appends(20)
    before = await given.values()
    assert await merge(given) == Merged(1, 19, sum(e.size for e in await given.index()))
    (segment,) = await given.index()
    assert (segment.base, segment.offsets, segment.records) == (0, 20, 20)
    assert segment.key not in [key for deletion in await deletions(given) for key in deletion.keys]
    assert await given.values() == before


async def test_a_reader_may_begin_anywhere_in_a_segment():
    given = await with_appends(30, size=20_000)
    before = [await given.values(offset) for offset in range(30)]
    await merge(given)
    (segment,) = await given.index()
    assert len(segment.marks) == 14
    for offset in range(30):
        plan = await given.log.plan(PARTITION, offset, 30_000)
        assert plan.size < 70_000
        assert (await given.values(offset))[-(30 - offset) :] == before[offset]


async def test_a_record_is_found_by_its_time_in_a_segment_without_reading_all_of_it():
    given = await with_appends(30, size=20_000)
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
    given = await with_appends(10)
    for number in range(5):
        await given.append(a_batch(b"%d" % number))
    await merge(given)
    assert [extent.offsets for extent in await given.index()] == [10, 1, 1, 1, 1, 1]


async def test_what_is_appended_during_a_merge_stays_where_it_is():
    given = await with_appends(10)
    before, put = await given.values(), given.objects.put_stream

    async def put_while_others_append(key: str, parts: AsyncIterator[Buffer]) -> None:
        for number in range(3):
            await given.another().append(a_batch(b"%d" % number))
        await put(key, parts)

    with patch.object(given.objects, "put_stream", put_while_others_append):
        assert (await merge(given)).runs == 1
    assert [extent.offsets for extent in await given.index()] == [10, 1, 1, 1]
    assert await given.values() == [*before, b"0", b"1", b"2"]


async def test_the_pending_deletion_of_a_merge_names_the_objects_that_go():
    given = await with_appends(10)
    old = [extent.key for extent in await given.index()]
    await merge(given)
    (deletion,) = await deletions(given)
    assert (deletion.keys, deletion.base, deletion.end) == (tuple(old), 0, 10)
    assert not deletion.announced


async def test_an_object_that_is_named_again_stays_when_its_pending_deletion_is_done():
    given = await with_appends(10)
    await merge(given)
    (segment,) = await given.index()
    await given.ledger.announce(PARTITION, PendingDeletion("wrong", 0, 10, (segment.key,), 1))
    await sweep(given)
    assert await given.keys() == [segment.key]
    assert len(await given.values()) == 10


async def test_the_old_objects_go_after_the_grace_time_and_not_before():
    given = await with_appends(10)
    await merge(given)
    assert len(await given.keys()) == 11
    await given.log.sweeper.sweep(PARTITION)
    given.clock.now += GRACE - 1
    await given.log.sweeper.sweep(PARTITION)
    assert len(await given.keys()) == 11
    given.clock.now += 1
    await given.log.sweeper.sweep(PARTITION)
    assert await given.keys() == [(await given.index())[0].key]
    assert await deletions(given) == []
    assert len(await given.values()) == 10


async def test_another_process_remembers_since_when_they_are_old():
    given = await with_appends(10)
    await merge(given)
    await given.log.sweeper.sweep(PARTITION)
    given.clock.now += GRACE
    await given.another().log.sweeper.sweep(PARTITION)
    assert len(await given.keys()) == 1


async def test_a_reader_who_planned_before_the_merge_still_finds_its_objects():
    given = await with_appends(10)
    plan = await given.log.plan(PARTITION, 0, 10_000)
    await merge(given)
    await given.log.sweeper.sweep(PARTITION)
    assert len(await given.log.load(plan.ranges)) == 10


async def test_a_second_merge_does_nothing_until_enough_has_come():
    given = await with_appends(10)
    await merge(given)
    assert await merge(given) == Merged()
    for number in range(5):
        await given.append(a_batch(b"%d" % number))
    given.clock.now += OLD
    await merge(given)
    assert [extent.offsets for extent in await given.index()] == [10, 5]


async def test_a_segment_that_is_full_is_never_looked_at_again():
    given = await with_appends(40, size=100, segment_bytes=2_000)
    await merge(given)
    cursor = await given.ledger.cursor(PARTITION, "merge")
    full = [extent for extent in await given.index() if extent.size > 1_000]
    assert cursor == full[-1].end > 0
    assert all(extent.size <= 2_000 for extent in full)


async def test_a_budget_ends_a_round_and_the_next_goes_on():
    given = await with_appends(40, size=100, segment_bytes=1_000)
    before = await given.values()
    one = await given.log.merger.merge(PARTITION, RoundBudget(10**9, 2))
    assert (one.runs, one.finished) == (2, False)
    while not (await given.log.merger.merge(PARTITION, RoundBudget(1, 1))).finished:
        pass
    assert len(await given.index()) <= 10
    assert await given.values() == before


async def test_of_two_janitors_one_wins_and_the_other_tidies_up():
    given = await with_appends(10)
    run = await given.index()
    assert await given.log.merger.copy(PARTITION, run) is not None
    assert await given.another().log.merger.copy(PARTITION, run) is None
    assert len(await given.keys()) == 11
    assert len(await deletions(given)) == 1
    assert len(await given.values()) == 10


async def test_a_segment_that_was_never_swapped_in_is_condemned_and_then_deleted():
    given = await with_appends(10, building_ms=5_000)
    run = await given.index()

    async def stop(*_: object) -> bool:
        raise Unavailable("the process stops here")

    with patch.object(given.ledger, "replace_extents", stop), pytest.raises(Unavailable):
        await given.log.merger.copy(PARTITION, run)
    await sweep(given)
    assert len(await given.keys()) == 11
    given.clock.now += 5_000
    await sweep(given)
    assert len(await given.keys()) == 10
    assert await deletions(given) == []
    assert await given.index() == run


async def test_a_segment_that_was_condemned_is_not_swapped_in():
    given = await with_appends(10, building_ms=0)
    run = await given.index()
    swap = given.ledger.replace_extents

    async def late(*what) -> bool:
        await sweep(given)
        return await swap(*what)

    with patch.object(given.ledger, "replace_extents", late):
        assert await given.log.merger.copy(PARTITION, run) is None
    assert await given.index() == run
    assert len(await given.values()) == 10


async def test_what_is_missing_ends_the_merge_and_leaves_the_index():
    given = await with_appends(10)
    before = await given.index()
    await given.objects.delete([before[5].key])
    with pytest.raises(Missing):
        await merge(given)
    assert await given.index() == before


async def test_what_is_cut_ends_the_merge_and_leaves_the_index():
    given = await with_appends(10)
    before = await given.index()
    await given.objects.delete([before[5].key])
    await given.objects.put_if_absent(before[5].key, [b"short"])
    with pytest.raises(Unavailable, match="5 bytes instead of"):
        await merge(given)
    assert await given.index() == before


async def test_a_segment_goes_by_time_when_its_newest_record_is_too_old():
    given = await with_appends(10)
    await merge(given)
    given.clock.now = 2_000
    retain = given.log.retainer.retain
    assert await retain(PARTITION, Retention(max_age_ms=991)) == 0
    assert await retain(PARTITION, Retention(max_age_ms=990)) == 10


async def test_records_are_deleted_from_inside_a_segment():
    given = await with_appends(10)
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
    assert await given.keys() == []


async def test_what_is_settled_late_does_not_come_back_after_a_merge():
    given = await with_appends(10)
    before, old = await given.values(), await given.index()
    await merge(given)
    merged = await given.index()
    await sweep(given)
    for extent in (old[0], old[3], old[9]):
        await given.ledger.index(PARTITION, extent)
    assert await given.index() == merged
    assert await given.values() == before
