"""Merge, retention, deletion and time look-ups in a log with transactions."""

from typing import Any
from unittest.mock import patch

import pytest
from unit.log.changelogs import (
    GRACE,
    Producer,
    a_changelog,
    committed,
    compact,
    listed,
    markers,
    put,
    stored,
)
from unit.log.compacting import HOUR, TIME
from unit.log.given import PARTITION, Given, a_batch

from samsa.log.append import Marker
from samsa.log.merge import RoundBudget
from samsa.log.read import OutOfRange
from samsa.log.retain import Retention
from samsa.log.times import Found
from samsa.ports import Aborted, End, UnknownPartition


async def merge(given: Given) -> None:
    given.clock.now += HOUR
    await given.log.merger.merge(PARTITION, RoundBudget(10**9, 10**6))


async def with_all_kinds(given: Given) -> tuple[Producer, Producer]:
    """Committed, aborted and plain records; then two open transactions, and records after them."""
    one, other = Producer(given, 7), Producer(given, 8)
    await put(given, (b"a", b"0"))
    await one.put((b"a", b"1"), (b"a", b"2"))
    await other.abort((b"a", b"3"))
    await one.end(End.COMMIT)
    await one.abort((b"a", b"6"))
    await put(given, (b"a", b"8"))
    await one.put((b"a", b"9"))
    await other.put((b"a", b"10"))
    await put(given, (b"a", b"11"))
    return one, other


# Merge


@pytest.mark.parametrize("max_bytes", [1, 200, 10**6])
async def test_a_merge_over_the_stable_end_changes_nothing_for_readers(max_bytes):
    given = await a_changelog()
    one, other = await with_all_kinds(given)

    async def everywhere() -> list[object]:
        return [await committed(given, offset, max_bytes) for offset in range(13)]

    before = await everywhere()
    assert [offset for offset, *_ in before[0]] == [0, 1, 2, 8]
    await merge(given)
    (segment,) = await given.index()
    assert segment.end == 12
    assert await everywhere() == before
    for offset in range(10):  # a reader that asks at the stable end or below it gets no more
        plan = await given.log.plan(PARTITION, offset, max_bytes, committed=True)
        assert [r.end_offset for r in plan.ranges if r.end_offset > 9] == []
    await one.end(End.ABORT)
    assert [offset for offset, *_ in await committed(given, 0, max_bytes)] == [0, 1, 2, 8]
    await other.end(End.COMMIT)
    found = await committed(given, 0, max_bytes)
    assert [offset for offset, *_ in found] == [0, 1, 2, 8, 10, 11]
    await merge(given)
    assert await committed(given, 0, max_bytes) == found


async def test_a_segment_with_large_batches_is_cut_at_the_stable_end_between_two_marks():
    given = await a_changelog()
    for n in range(5):
        await put(given, (b"%d" % n, b"x" * 30_000))
    await Producer(given).put((b"open", b"y" * 30_000))
    await put(given, (b"later", b"z" * 30_000))
    await merge(given)
    (segment,) = await given.index()
    assert segment.marks
    for offset in range(5):
        assert [at for at, *_ in await committed(given, offset)] == list(range(offset, 5))


# Retention, and DeleteRecords


async def test_retention_takes_an_open_transaction_and_the_stable_end_moves_with_the_start():
    given = await a_changelog()
    producer = Producer(given)
    await producer.put((b"a", b"1"), (b"a", b"2"))
    given.clock.now += HOUR
    await put(given, (b"a", b"3"))
    assert await given.log.retainer.retain(PARTITION, Retention(max_bytes=1)) == 2
    head = await given.log.head(PARTITION)
    assert (head.log_start, head.stable_end, head.next_offset) == (2, 2, 3)
    assert await committed(given, 2) == []
    await producer.put((b"a", b"4"))
    await producer.end(End.COMMIT)
    assert await committed(given, 2) == [(2, b"a", b"3"), (3, b"a", b"4")]


async def test_the_rest_of_a_transaction_that_retention_cut_is_still_filtered():
    given = await a_changelog()
    producer = Producer(given)
    await producer.put((b"a", b"1"))
    await producer.put((b"a", b"2"))
    await given.log.retainer.delete_before(PARTITION, 1)
    await producer.abort((b"a", b"3"))
    base = await producer.commit((b"a", b"4"))
    assert await committed(given, 1) == [(base, b"a", b"4")]


async def test_what_was_aborted_below_the_start_is_forgotten_and_what_is_above_it_is_not():
    given = await a_changelog()
    producer = Producer(given)
    await producer.abort((b"a", b"1"))
    await producer.abort((b"a", b"2"))
    await producer.abort((b"a", b"3"))
    await given.log.retainer.delete_before(PARTITION, 3)
    assert [one.marker for one in await listed(given)] == [3, 5]
    await given.log.retainer.delete_before(PARTITION, 6)
    assert await listed(given) == []
    assert await stored(given) == []


async def test_what_retention_drops_while_a_reader_plans_is_not_taken_for_committed():
    given = await a_changelog()
    producer = Producer(given)
    await producer.abort((b"a", b"1"))
    await producer.abort((b"a", b"2"))
    find = given.ledger.aborted

    async def after_retention(*where: Any) -> list[Aborted]:
        await given.another().log.retainer.delete_before(PARTITION, 3)
        return await find(*where)

    with patch.object(given.ledger, "aborted", after_retention):
        with pytest.raises(OutOfRange):
            await given.log.plan(PARTITION, 0, 10**6, committed=True)
        plan = await given.log.plan(PARTITION, 3, 10**6, committed=True)
    assert [one.marker for one in plan.aborted] == [3]


async def test_the_log_may_start_inside_an_aborted_transaction_and_inside_a_segment():
    given = await a_changelog()
    producer = Producer(given)
    await producer.abort((b"a", b"1"))
    await producer.abort((b"a", b"2"), (b"a", b"3"))
    for n in range(8):
        await put(given, (b"b", b"%d" % n))
    await merge(given)
    assert len(await given.index()) == 1
    await given.log.retainer.delete_before(PARTITION, 3)
    assert [offset for offset, *_ in await committed(given, 3)] == list(range(5, 13))


async def test_records_are_deleted_up_to_the_end_and_not_to_the_stable_end():
    """As in Kafka, where −1 is the high watermark."""
    given = await a_changelog()
    producer = Producer(given)
    await producer.put((b"a", b"1"))
    await put(given, (b"a", b"2"))
    assert await given.log.retainer.delete_before(PARTITION, -1) == 2
    head = await given.log.head(PARTITION)
    assert (head.log_start, head.stable_end, head.next_offset) == (2, 2, 2)
    assert list(head.open_transactions.values()) == [0]
    await put(given, (b"a", b"3"))
    assert (await given.log.head(PARTITION)).stable_end == 2
    await producer.end(End.ABORT)
    assert await committed(given, 2) == [(2, b"a", b"3")]
    assert await listed(given) == [Aborted(3, 7, 0, 4)]
    assert await given.log.retainer.delete_before(PARTITION, -1) == 4
    assert await listed(given) == []


# The end of a topic


async def test_nothing_is_left_of_a_topic_that_is_deleted_with_a_transaction_open():
    given = await a_changelog()
    one, other = await with_all_kinds(given)
    (topic,) = await given.ledger.topics()
    await given.ledger.delete_topic(topic)
    await one.abort((b"a", b"late"))
    await given.log.retainer.bury(topic)
    with pytest.raises(UnknownPartition):
        await given.another().log.mark(
            PARTITION, Marker(other.id, other.epoch, other.serial, End.ABORT)
        )
    assert await given.ledger.aborted(PARTITION, 0, 100) == []
    assert await given.ledger.producers(PARTITION, 0) == {}
    assert await given.keys() == []
    with pytest.raises(UnknownPartition):
        await given.log.head(PARTITION)


# Times


async def test_a_marker_is_found_by_its_time_as_a_record_is():
    """As in Kafka, which looks at every record of every batch, control batches too."""
    given = await a_changelog()
    producer = Producer(given)
    await producer.put((b"a", b"1"))
    given.clock.now = TIME + 5_000
    await producer.end(End.COMMIT)
    times = given.log.times
    assert await times.at(PARTITION, TIME + 1) == Found(1, TIME + 5_000)
    assert await times.at(PARTITION, TIME + 1, committed=True) == Found(1, TIME + 5_000)
    assert await times.newest(PARTITION) == Found(1, TIME + 5_000)
    await merge(given)
    assert await times.at(PARTITION, TIME + 1) == Found(1, TIME + 5_000)


async def test_a_marker_whose_time_runs_is_found_by_the_time_it_was_written():
    given = await a_changelog()
    given.clock.now = TIME + 5_000
    await Producer(given).end(End.ABORT)
    await given.append(a_batch(b"later"))
    given.clock.now += GRACE
    await compact(given)
    assert (await stored(given))[0].header.delete_horizon is not None
    assert await markers(given) == {0: False}
    assert await given.log.times.at(PARTITION, TIME + 1) == Found(0, TIME + 5_000)
    assert await given.log.times.newest(PARTITION) == Found(0, TIME + 5_000)
