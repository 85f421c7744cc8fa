"""Time look-ups in a log that holds batches whose records cannot be read."""

from unit.log.compacting import TIME, keyed
from unit.log.given import PARTITION, Given, a_log

from samsa.log.layout import Batch
from samsa.log.times import Found
from samsa.records import read_header
from samsa.records.batch import seal


async def with_noise() -> Given:
    """A good batch, [0, 2); noise under a right checksum, [2, 4); and a good one."""
    given = await a_log()
    good = keyed(0, (b"a", b"1"), (b"b", b"2"))
    noise = seal(read_header(good)._replace(max_timestamp=TIME + 50), b"\xff" * (len(good) - 61))
    for data in (good, noise, keyed(0, (b"c", b"3"))):
        batch = bytearray(data)
        await given.log.append_once(PARTITION, [Batch(read_header(batch), memoryview(batch))])
    return given


async def test_a_time_is_found_at_the_beginning_of_a_batch_that_cannot_be_read():
    given = await with_noise()
    times = given.log.times
    assert await times.at(PARTITION, TIME + 1) == Found(1, TIME + 1)
    assert await times.at(PARTITION, TIME + 2) == Found(2, TIME + 50)
    assert await times.newest(PARTITION) == Found(2, TIME + 50)


async def test_the_newest_is_found_where_the_log_starts_inside_such_a_batch():
    given = await with_noise()
    await given.log.retainer.delete_before(PARTITION, 3)
    assert await given.log.times.newest(PARTITION) == Found(3, TIME + 50)
