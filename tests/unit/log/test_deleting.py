"""Records that an administrator deletes: the log's start may come to lie inside an extent."""

import pytest
from unit.log.given import PARTITION, Given, a_log

from samsa.log.append import Batch
from samsa.log.read import OutOfRange
from samsa.log.retain import UP_TO_THE_END, Retention
from samsa.log.times import Found
from samsa.records import Record, build, read_header

GRACE = 1_000


def stamped(*timestamps: int) -> Batch:
    made = [Record(n, stamp, None, b"%d" % stamp) for n, stamp in enumerate(timestamps)]
    data = bytearray(build(made))
    return Batch(read_header(data), memoryview(data))


async def with_appends(*appends: tuple[int, ...]) -> Given:
    """Each append one batch of records with these timestamps."""
    given = await a_log(sweep_grace_ms=GRACE)
    for timestamps in appends:
        await given.append(stamped(*timestamps))
    return given


async def three_by_four() -> Given:
    """Extents [0, 4), [4, 8) and [8, 12)."""
    return await with_appends((10, 11, 12, 13), (20, 21, 22, 23), (30, 31, 32, 33))


async def delete(given: Given, offset: int) -> int:
    return await given.log.retainer.delete_before(PARTITION, offset)


async def upkeep(given: Given, **rules: int) -> int:
    return await given.log.retainer.retain(PARTITION, Retention(**rules))


async def bases(given: Given) -> list[int]:
    return [extent.base for extent in await given.ledger.extents(PARTITION, 0, 99)]


async def objects(given: Given) -> list[int]:
    """Which of the appends still has one."""
    return [int(key.rpartition("/n")[2]) for key in await given.keys()]


@pytest.mark.parametrize(("offset", "start"), [(0, 0), (3, 3), (4, 4), (12, 12), (-1, 12)])
async def test_the_start_moves_to_where_it_is_told(offset: int, start: int):
    given = await three_by_four()
    assert await delete(given, offset) == start
    assert (await given.log.head(PARTITION)).log_start == start


@pytest.mark.parametrize("offset", [-2, 13, 10**18])
async def test_what_is_not_in_the_log_cannot_be_deleted(offset: int):
    given = await three_by_four()
    with pytest.raises(OutOfRange):
        await delete(given, offset)
    assert (await given.log.head(PARTITION)).log_start == 0


async def test_the_start_never_goes_back():
    given = await three_by_four()
    await delete(given, 9)
    assert await delete(given, 5) == 9


async def test_a_start_inside_an_extent_keeps_it_and_drops_those_before_it():
    given = await three_by_four()
    await delete(given, 6)
    assert await bases(given) == [4, 8]
    with pytest.raises(OutOfRange):
        await given.log.plan(PARTITION, 5, 100)
    assert await given.values(6) == [b"20", b"21", b"22", b"23", b"30", b"31", b"32", b"33"]


async def test_objects_go_after_the_grace_time_and_the_one_around_the_start_stays():
    given = await three_by_four()
    await delete(given, 6)
    assert await objects(given) == [0, 1, 2]
    given.clock.now += GRACE
    await upkeep(given)
    assert await objects(given) == [1, 2]
    given.clock.now += 5 * GRACE
    await upkeep(given)
    assert await objects(given) == [1, 2]
    assert (await given.values(6))[2:4] == [b"22", b"23"]


async def test_an_extent_has_its_own_grace_time_once_the_start_has_passed_its_end():
    given = await three_by_four()
    await delete(given, 6)
    given.clock.now += GRACE - 1
    await delete(given, 8)
    given.clock.now += 1
    await upkeep(given)
    assert await objects(given) == [1, 2]
    given.clock.now += GRACE
    await upkeep(given)
    assert await objects(given) == [2]


async def test_when_all_is_deleted_all_objects_go_and_the_next_offset_stays():
    given = await three_by_four()
    await delete(given, UP_TO_THE_END)
    given.clock.now += GRACE
    await upkeep(given)
    assert await objects(given) == []
    (outcome,) = await given.append(stamped(40))
    assert outcome.offset == 12
    assert await given.values(12) == [b"40"]


async def test_retention_goes_on_from_a_start_inside_an_extent():
    given = await three_by_four()
    await delete(given, 6)
    given.clock.now = 100
    assert await upkeep(given, max_age_ms=78) == 6
    assert await upkeep(given, max_age_ms=76) == 8


async def test_by_size_an_extent_counts_whole_until_it_is_gone():
    given = await three_by_four()
    whole = await given.log.retainer.size(PARTITION)
    await delete(given, 6)
    assert await given.log.retainer.size(PARTITION) == whole * 2 // 3
    await delete(given, UP_TO_THE_END)
    assert await given.log.retainer.size(PARTITION) == 0


async def test_deleting_what_another_process_has_deleted_tells_how_far_it_went():
    given = await three_by_four()
    look, looks = given.ledger.extents, 0

    async def overtaken(*arguments):
        nonlocal looks
        looks += 1
        if looks == 1:
            await delete(given.another(), 10)
        return await look(*arguments)

    given.ledger.extents = overtaken
    assert await delete(given, 6) == 10


async def test_a_time_is_not_found_below_the_start():
    given = await with_appends((50, 20, 30), (25, 40))
    await delete(given, 1)
    times = given.log.times
    assert await times.at(PARTITION, 10) == Found(1, 20)
    assert await times.at(PARTITION, 28) == Found(2, 30)
    assert await times.at(PARTITION, 35) == Found(4, 40)
    assert await times.at(PARTITION, 45) is None


async def test_the_newest_record_is_not_one_that_was_deleted():
    given = await with_appends((50, 20, 30), (25, 30), (5, 6))
    times = given.log.times
    assert await times.newest(PARTITION) == Found(0, 50)
    await delete(given, 1)
    assert await times.newest(PARTITION) == Found(2, 30)
    await delete(given, 3)
    assert await times.newest(PARTITION) == Found(4, 30)
    await delete(given, 6)
    assert await times.newest(PARTITION) == Found(6, 6)
    await delete(given, 7)
    assert await times.newest(PARTITION) is None
