from unittest.mock import patch

import pytest
from unit.log.given import PARTITION, Given, a_batch, a_log

from samsa.log.layout import Batch
from samsa.log.read import OutOfRange
from samsa.log.retain import FOR_EVER, Retainer, Retention
from samsa.ports import Extent, Head, Missing, Partition
from samsa.records import Record, build, read_header

SIZE = len(a_batch().data)


async def with_appends(appends: int, **limits: int) -> Given:
    given = await a_log(**limits)
    for number in range(appends):
        await given.append(a_batch(b"%d" % number))
    return given


async def start_after(given: Given, **rules: int) -> int:
    return await given.log.retainer.retain(PARTITION, Retention(**rules))


async def test_without_rules_everything_stays_for_ever():
    given = await with_appends(5)
    given.clock.now += 10**12
    assert await start_after(given) == 0
    assert await start_after(given, max_age_ms=FOR_EVER, max_bytes=FOR_EVER) == 0


@pytest.mark.parametrize(("limit", "start"), [(5 * SIZE, 0), (3 * SIZE, 2), (0, 5)])
async def test_by_size_the_oldest_go_until_the_limit_is_reached(limit, start):
    given = await with_appends(5)
    assert await start_after(given, max_bytes=limit) == start


async def test_by_size_the_limit_is_always_kept():
    given = await with_appends(5)
    assert await start_after(given, max_bytes=3 * SIZE + 1) == 1


def stamped(timestamp: int) -> Batch:
    data = bytearray(build([Record(0, timestamp, None, b"v")]))
    return Batch(read_header(data), memoryview(data))


async def test_by_time_an_extent_goes_when_its_newest_record_is_too_old():
    given = await a_log()
    for timestamp in (100, 200, 300, 150):
        await given.append(stamped(timestamp))
    given.clock.now = 1_000
    assert await start_after(given, max_age_ms=900) == 0
    assert await start_after(given, max_age_ms=800) == 1
    assert await start_after(given, max_age_ms=799) == 2


async def test_by_time_nothing_goes_from_behind_a_newer_extent():
    given = await a_log()
    for timestamp in (900, 100):
        await given.append(stamped(timestamp))
    given.clock.now = 1_000
    assert await start_after(given, max_age_ms=500) == 0


async def test_what_has_no_time_of_its_own_is_as_old_as_its_append():
    given = await a_log()
    await given.append(stamped(-1))
    stored_at = given.clock.now
    given.clock.now += 100
    assert await start_after(given, max_age_ms=100) == 0
    given.clock.now = stored_at + 101
    assert await start_after(given, max_age_ms=100) == 1


async def test_a_reader_below_the_start_is_told():
    given = await with_appends(5)
    await start_after(given, max_bytes=2 * SIZE)
    with pytest.raises(OutOfRange) as told:
        await given.log.plan(PARTITION, 2, 100)
    assert (told.value.log_start, told.value.visible_end) == (3, 5)
    assert await given.values(3) == [b"3", b"4"]


async def test_objects_outlive_their_place_by_the_grace_time():
    given = await with_appends(5, sweep_grace_ms=1_000)
    await start_after(given, max_bytes=2 * SIZE)
    given.clock.now += 999
    await start_after(given, max_bytes=2 * SIZE)
    assert len(await given.keys()) == 5
    given.clock.now += 1
    await start_after(given, max_bytes=2 * SIZE)
    assert len(await given.keys()) == 2


async def test_objects_go_although_the_start_moves_all_the_time():
    given = await with_appends(1, sweep_grace_ms=1_000)
    for _ in range(50):
        await given.append(a_batch())
        given.clock.now += 400
        await start_after(given, max_bytes=SIZE)
    assert len(await given.keys()) < 10


async def test_what_a_crash_left_behind_is_swept_by_the_next_process():
    given = await with_appends(5, sweep_grace_ms=1_000)
    await given.ledger.advance_start(PARTITION, 3)
    other = given.another()
    for _ in range(2):
        await start_after(other, max_bytes=2 * SIZE)
        given.clock.now += 1_000
    assert len(await given.keys()) == 2
    assert [extent.base for extent in await given.ledger.extents(PARTITION, 0, 9)] == [3, 4]


async def test_a_reader_whose_objects_were_swept_hears_of_it():
    given = await with_appends(2, sweep_grace_ms=0)
    plan = await given.log.plan(PARTITION, 0, 1_000)
    for _ in range(2):
        await start_after(given, max_bytes=1)
    with pytest.raises(Missing):
        await given.log.load(plan.ranges)


async def test_an_extent_that_is_indexed_below_the_start_misleads_nobody_and_goes():
    """A process settles late what it appended."""
    given = await with_appends(4, sweep_grace_ms=0)
    (late,) = await given.ledger.extents(PARTITION, 0, 1)
    for _ in range(2):
        await start_after(given, max_bytes=2 * SIZE)
    await given.ledger.index(PARTITION, late)
    assert await given.values(2) == [b"2", b"3"]
    assert await given.log.times.at(PARTITION, 0) == (2, 1_000)
    await start_after(given)
    assert [extent.base for extent in await given.index()] == [2, 3]


class Stopped(Exception):
    pass


async def stop(*_: object) -> None:
    raise Stopped


@pytest.mark.parametrize("call", ["announce", "drop_extents"])
async def test_a_crash_while_extents_are_dropped_loses_no_object(call: str):
    """The pending deletion is stored first: whatever left the index has one."""
    given = await with_appends(5, sweep_grace_ms=1_000)
    before = set(await given.keys())
    with patch.object(given.ledger, call, stop), pytest.raises(Stopped):
        await start_after(given, max_bytes=2 * SIZE)
    indexed = {extent.key for extent in await given.index()}
    buried = {
        key
        for deletion in await given.ledger.pending_deletions(PARTITION, 99)
        for key in deletion.keys
    }
    assert indexed | buried == before == set(await given.keys())
    other = given.another()
    for _ in range(2):
        await start_after(other)
        given.clock.now += 1_000
    assert await given.keys() == [extent.key for extent in await given.index()]
    assert await given.values(3) == [b"3", b"4"]


async def test_what_leaves_the_index_is_in_a_pending_deletion_at_that_moment():
    given = await with_appends(5)
    drop, seen = given.ledger.drop_extents, set[str]()

    async def looked_at(partition: Partition, below: int) -> int:
        gone = {extent.key for extent in await given.index() if extent.end <= below}
        deletions = await given.ledger.pending_deletions(partition, 99)
        assert gone <= {key for deletion in deletions for key in deletion.keys}
        seen.update(gone)
        return await drop(partition, below)

    with patch.object(given.ledger, "drop_extents", looked_at):
        await start_after(given, max_bytes=2 * SIZE)
    assert len(seen) == 3


async def test_what_is_merged_between_a_crash_and_the_next_round_goes_all_the_same():
    """It ends where what was to go before ended, and is another object."""
    given = await with_appends(5, sweep_grace_ms=1_000)
    await given.ledger.advance_start(PARTITION, 5)
    drop, run = given.ledger.drop_extents, (await given.index())[1:]

    async def only_the_first(partition: Partition, below: int) -> int:
        return await (drop(partition, below) if below == 1 else stop())

    with patch.object(given.ledger, "drop_extents", only_the_first), pytest.raises(Stopped):
        await start_after(given)
    assert await given.log.merger.copy(PARTITION, run)
    for _ in range(3):
        await start_after(given)
        given.clock.now += 1_000
    assert await given.keys() == []


class Overtaken(Retainer):
    """Before it decides, another process applies the same rules."""

    other: Retainer
    rules: Retention

    async def _all(self, partition: Partition, head: Head) -> list[Extent]:
        found = await super()._all(partition, head)
        await self.other.retain(partition, self.rules)
        return found


async def test_two_janitors_drop_no_more_than_one():
    given = await with_appends(10)
    janitor = Overtaken(given.stores, given.log.reader)
    janitor.other, janitor.rules = given.another().log.retainer, Retention(max_bytes=4 * SIZE)
    assert await janitor.retain(PARTITION, janitor.rules) == 6
    assert (await given.ledger.head(PARTITION)).log_start == 6
