import pytest
from unit.log.given import PARTITION, Given, a_batch, a_log

from samsa.log.layout import Batch
from samsa.log.read import OutOfRange
from samsa.log.retain import FOR_EVER, Retainer, Retention
from samsa.ports import Partition
from samsa.records import Record, build, read_header

SIZE = len(a_batch().data)


async def with_slots(slots: int, **limits: int) -> Given:
    given = await a_log(**limits)
    for number in range(slots):
        await given.log.append_once(PARTITION, [a_batch(b"%d" % number)])
    return given


async def keys(given: Given) -> list[str]:
    return [key async for key in given.objects.list("")]


async def start_after(given: Given, **rules: int) -> int:
    return await given.log.retainer.retain(PARTITION, Retention(**rules))


async def test_without_rules_everything_stays_for_ever():
    given = await with_slots(5)
    given.clock.now += 10**12
    assert await start_after(given) == 0
    assert await start_after(given, max_age_ms=FOR_EVER, max_bytes=FOR_EVER) == 0


@pytest.mark.parametrize(("limit", "start"), [(5 * SIZE, 0), (3 * SIZE, 2), (0, 5)])
async def test_by_size_the_oldest_go_until_the_limit_is_reached(limit, start):
    given = await with_slots(5)
    assert await start_after(given, max_bytes=limit) == start


async def test_by_size_the_limit_is_always_kept():
    given = await with_slots(5)
    assert await start_after(given, max_bytes=3 * SIZE + 1) == 1


def stamped(timestamp: int) -> Batch:
    data = bytearray(build([Record(0, timestamp, None, b"v")]))
    return Batch(read_header(data), memoryview(data))


async def test_by_time_a_slot_goes_when_its_newest_record_is_too_old():
    given = await a_log()
    for timestamp in (100, 200, 300, 150):
        await given.log.append_once(PARTITION, [stamped(timestamp)])
    given.clock.now = 1_000
    assert await start_after(given, max_age_ms=900) == 0
    assert await start_after(given, max_age_ms=800) == 1
    assert await start_after(given, max_age_ms=799) == 2


async def test_by_time_nothing_goes_from_behind_a_newer_slot():
    given = await a_log()
    for timestamp in (900, 100):
        await given.log.append_once(PARTITION, [stamped(timestamp)])
    given.clock.now = 1_000
    assert await start_after(given, max_age_ms=500) == 0


async def test_filler_is_as_old_as_its_slot():
    given = await a_log()
    await given.ledger.reserve(PARTITION, "1.0.n", 1)
    await given.log.head(PARTITION)
    stored_at = given.clock.now
    given.clock.now += 100
    assert await start_after(given, max_age_ms=100) == 0
    given.clock.now = stored_at + 101
    assert await start_after(given, max_age_ms=100) == 1


async def test_an_open_slot_and_what_lies_behind_it_stay():
    given = await with_slots(2)
    await given.ledger.reserve(PARTITION, f"1.{given.clock.now}.n", 1)
    await given.log.append_once(PARTITION, [a_batch()])
    assert await start_after(given, max_bytes=0) == 2


async def test_a_reader_below_the_start_is_told():
    given = await with_slots(5)
    await start_after(given, max_bytes=2 * SIZE)
    with pytest.raises(OutOfRange) as told:
        await given.log.plan(PARTITION, 2, 100)
    assert (told.value.log_start, told.value.visible_end) == (3, 5)
    assert await given.values(3) == [b"3", b"4"]


async def test_objects_outlive_their_place_by_the_grace_time():
    given = await with_slots(5, sweep_grace_ms=1_000)
    await start_after(given, max_bytes=2 * SIZE)
    given.clock.now += 999
    await start_after(given, max_bytes=2 * SIZE)
    assert len(await keys(given)) == 5
    given.clock.now += 1
    await start_after(given, max_bytes=2 * SIZE)
    assert len(await keys(given)) == 2


async def test_objects_go_although_the_start_moves_all_the_time():
    given = await with_slots(1, sweep_grace_ms=1_000)
    for _ in range(50):
        await given.log.append_once(PARTITION, [a_batch()])
        given.clock.now += 400
        await start_after(given, max_bytes=SIZE)
    assert len(await keys(given)) < 10


async def test_what_a_crash_left_behind_is_swept_by_the_next_process():
    given = await with_slots(5, sweep_grace_ms=1_000)
    await given.ledger.advance_start(PARTITION, 3)
    other = given.another()
    for _ in range(2):
        await start_after(other, max_bytes=2 * SIZE)
        given.clock.now += 1_000
    assert len(await keys(given)) == 2
    assert [extent.base for extent in await given.ledger.extents(PARTITION, 0, 9)] == [3, 4]


class Overtaken(Retainer):
    """Before it decides, another process applies the same rules."""

    other: Retainer

    async def _surplus(self, partition: Partition, head, max_bytes: int) -> int:
        surplus = await super()._surplus(partition, head, max_bytes)
        await self.other.retain(partition, Retention(max_bytes=max_bytes))
        return surplus


async def test_two_janitors_drop_no_more_than_one():
    given = await with_slots(10)
    janitor = Overtaken(given.stores, given.log.reader)
    janitor.other = given.another().log.retainer
    assert await janitor.retain(PARTITION, Retention(max_bytes=4 * SIZE)) == 6
    assert (await given.ledger.head(PARTITION)).log_start == 6
