"""Compaction of a log with transactions: what stays, what goes, and when."""

from collections.abc import Sequence
from unittest.mock import AsyncMock, patch

import pytest
from unit.log.changelogs import (
    EAGER,
    GRACE,
    Producer,
    a_changelog,
    committed,
    compact,
    listed,
    markers,
    put,
    stored,
    tick,
)
from unit.log.compacting import HOUR
from unit.log.given import PARTITION, Given

from samsa.log.compact_progress import CLEANED, GONE
from samsa.log.merge import RoundBudget
from samsa.ports import Aborted, End, Extent, Head, Partition, Unavailable


async def cleaned_to(given: Given) -> int:
    return await given.ledger.cursor(PARTITION, CLEANED)


async def test_aborted_records_go_and_replace_nothing():
    given = await a_changelog()
    await put(given, (b"a", b"old"))
    await Producer(given).abort((b"a", b"aborted"), (b"b", b"aborted"))
    assert (await compact(given)).finished
    assert await committed(given) == [(0, b"a", b"old")]
    assert [record.value for one in await stored(given) for record in one.records][:1] == [b"old"]
    assert b"aborted" not in b"".join(
        record.value or b"" for one in await stored(given) for record in one.records
    )


async def test_committed_records_replace_and_are_replaced():
    given = await a_changelog()
    producer = Producer(given)
    await put(given, (b"a", b"1"))
    await producer.commit((b"a", b"2"), (b"b", b"1"))
    await put(given, (b"b", b"2"))
    await compact(given)
    assert await committed(given) == [(1, b"a", b"2"), (4, b"b", b"2")]


async def test_a_round_ends_below_the_oldest_open_transaction():
    given = await a_changelog()
    first, second = Producer(given, 7), Producer(given, 8)
    await put(given, (b"a", b"1"))
    await put(given, (b"a", b"2"))
    await first.put((b"a", b"undecided"))
    await put(given, (b"a", b"3"))
    await second.put((b"a", b"later"))
    await compact(given)
    assert await cleaned_to(given) == 2
    assert await committed(given) == [(1, b"a", b"2")]
    await first.end(End.ABORT)
    await compact(given)
    assert await cleaned_to(given) == 4
    assert await committed(given) == [(3, b"a", b"3")]
    await second.end(End.COMMIT)
    await compact(given)
    assert await committed(given) == [(4, b"a", b"later")]


async def test_a_round_ends_there_inside_a_merged_extent_too():
    given = await a_changelog()
    producer = Producer(given)
    for n in range(3):
        await put(given, (b"a", b"%d" % n))
    await producer.put((b"a", b"undecided"))
    await put(given, (b"a", b"4"))
    given.clock.now += HOUR
    await given.log.merger.merge(PARTITION, RoundBudget(10**9, 10**6))
    assert len(await given.index()) == 1
    assert await compact(given)
    assert await cleaned_to(given) == 3
    assert await compact(given) is None
    assert await committed(given) == [(2, b"a", b"2")]
    await producer.end(End.ABORT)
    await compact(given)
    assert await committed(given) == [(4, b"a", b"4")]


async def test_nothing_is_cleaned_where_the_log_starts_inside_an_open_transaction():
    given = await a_changelog()
    producer = Producer(given)
    base = await producer.put((b"a", b"1"), (b"a", b"2"), (b"b", b"3"))
    await put(given, (b"a", b"4"))
    await given.log.retainer.delete_before(PARTITION, base + 1)
    assert await compact(given) is None
    await producer.end(End.COMMIT)
    await compact(given)
    assert await committed(given, base + 1) == [(2, b"b", b"3"), (3, b"a", b"4")]


async def test_a_producer_that_only_has_a_marker_is_no_obstacle():
    given = await a_changelog()
    producer = Producer(given)
    await producer.abort((b"a", b"1"))
    await producer.end(End.COMMIT, next_epoch=True)  # its state has no batches now
    await put(given, (b"a", b"2"))
    assert (await compact(given)).finished
    assert await committed(given) == [(3, b"a", b"2")]


async def test_a_transaction_may_reach_over_parts_of_a_round_and_into_the_tail(monkeypatch):
    monkeypatch.setattr("samsa.log.compact_plan.GROUP_EXTENTS", 1)
    given = await a_changelog()
    await put(given, (b"a", b"1"), (b"b", b"1"))
    one, other = Producer(given, 7), Producer(given, 8)
    for key in (b"a", b"b", b"c"):
        await one.put((key, b"aborted"))
        await other.put((key, b"committed %s" % key))
    await one.end(End.ABORT)
    await other.end(End.COMMIT)
    await compact(given)
    assert [(key, value) for _, key, value in await committed(given)] == [
        (key, b"committed %s" % key) for key in (b"a", b"b", b"c")
    ]


# Markers, and the list of what was aborted


async def rounds_until(given: Given, end: int, step: int) -> list[tuple[bool, bool]]:
    """Time by time: whether the marker is there, and whether its transaction is listed."""
    seen = []
    for _ in range(0, end, step):
        await tick(given, step)
        seen.append((1 in await markers(given), bool(await listed(given))))
    return seen


async def test_a_transaction_is_forgotten_a_grace_time_after_its_records_are_gone():
    given = await a_changelog()
    await Producer(given).abort((b"a", b"1"))
    await tick(given)
    assert await listed(given) == [Aborted(1, 7, 0, 2)]
    await tick(given, GRACE - 1)
    assert await listed(given)
    await tick(given, 1)
    assert not await listed(given)


async def test_a_transaction_whose_records_are_not_gone_is_not_forgotten():
    """However often rounds begin: only one that is finished has removed them."""
    given = await a_changelog()
    await Producer(given).abort((b"a", b"1"))
    with patch.object(given.ledger, "replace_extents", AsyncMock(return_value=False)):
        for _ in range(5):
            assert not (await tick(given, GRACE)).finished
    assert await listed(given)
    await tick(given, GRACE)
    assert await listed(given)


async def test_a_marker_outlives_the_list_by_the_time_of_tombstones():
    given = await a_changelog()
    await Producer(given).abort((b"a", b"1"))
    seen = await rounds_until(given, 4 * HOUR, GRACE)
    assert seen == sorted(seen, reverse=True)
    kept_s = seen.count((True, False)) * GRACE
    assert HOUR <= kept_s <= HOUR + 2 * GRACE
    assert seen[-1] == (False, False)


async def test_a_marker_outlives_the_list_by_a_minute_if_tombstones_go_at_once():
    given = await a_changelog()
    rules = EAGER._replace(tombstones_ms=0)
    await Producer(given).abort((b"a", b"1"))
    await tick(given, 1, rules)
    await tick(given, GRACE, rules)
    assert not await listed(given)
    await tick(given, 1, rules)  # starts its time
    await tick(given, GRACE - 1, rules)
    assert 1 in await markers(given)
    await tick(given, 1, rules)
    assert 1 not in await markers(given)


async def test_rounds_in_quick_succession_do_not_keep_a_transaction_listed():
    given = await a_changelog()
    producer = Producer(given)
    for _ in range(40):
        await producer.abort((b"a", b"1"))
        await tick(given, GRACE // 10)
    assert len(await listed(given)) < 25


async def test_a_marker_without_batches_goes_too():
    given = await a_changelog()
    await put(given, (b"a", b"1"))
    await Producer(given).end(End.ABORT)
    assert await listed(given) == []
    await tick(given)
    assert 1 in await markers(given)
    await tick(given, HOUR)
    assert 1 not in await markers(given)


async def test_a_commit_marker_stays_at_the_end_and_goes_with_the_first_round_after_that():
    """librdkafka moves a program's position by markers: without the last one, a program that
    restores its state up to the end never gets there."""
    given = await a_changelog()
    await Producer(given).commit((b"a", b"1"))
    await compact(given)
    assert list(await markers(given)) == [1]
    await tick(given, 0)
    assert await markers(given) == {}
    assert (await committed(given))[0] == (0, b"a", b"1")


async def test_what_its_producer_commits_later_is_read_while_the_list_and_the_marker_go():
    given = await a_changelog()
    producer = Producer(given)
    await producer.abort((b"a", b"aborted"))
    base = await producer.commit((b"a", b"1"), (b"b", b"1"))
    for _ in range(100):
        found = await committed(given)
        assert [one for one in found if one[1] != b"tick"] == [
            (base, b"a", b"1"),
            (base + 1, b"b", b"1"),
        ]
        await tick(given, GRACE)
    assert await markers(given) == {}


async def test_a_reader_that_planned_before_the_round_still_filters():
    given = await a_changelog()
    producer = Producer(given)
    await producer.abort((b"a", b"aborted"))
    await producer.commit((b"b", b"1"))
    find = given.log.reader.aborted
    rounds = []

    async def after_the_round(*args: object) -> Sequence[Aborted]:
        if not rounds:
            rounds.append(await compact(given.another()))
        return await find(*args)

    given.log.reader.aborted = after_the_round
    assert await committed(given) == [(2, b"b", b"1")]
    assert rounds[0].after < rounds[0].before


# Others


async def test_a_janitor_that_slept_does_not_take_forgotten_records_for_committed_ones():
    """Between the extents and the list: another one has removed and forgotten everything."""
    given = await a_changelog()
    await put(given, (b"a", b"old"))
    await Producer(given).abort((b"a", b"aborted"))
    other = given.another()
    find = given.log.compactor._reader.aborted
    slept = []

    async def after_the_other(
        partition: Partition, offset: int, end: int, head: Head
    ) -> Sequence[Aborted]:
        if not slept:
            slept.append(True)
            await tick(other)
            await tick(other, GRACE)
            assert not await listed(other)
        return await find(partition, offset, end, head)

    given.log.compactor._reader.aborted = after_the_other
    await compact(given)
    assert slept
    await tick(given)
    assert (0, b"a", b"old") in await committed(given)


async def test_a_round_is_put_off_where_the_index_never_stands_still():
    given = await a_changelog()
    await Producer(given).abort((b"a", b"1"))
    find = given.log.reader.extents_from
    turns: list[int] = []

    async def another_each_time(*args: object) -> Sequence[Extent]:
        turns.append(len(turns))
        return [one._replace(size=one.size + len(turns)) for one in await find(*args)]

    given.log.reader.extents_from = another_each_time
    with pytest.raises(Unavailable):
        await compact(given)
    given.log.reader.extents_from = find
    assert (await compact(given)).finished


@pytest.mark.parametrize("stops_after", range(1, 12))
async def test_a_janitor_that_stops_between_two_writes_forgets_nothing_too_early(stops_after):
    given = await a_changelog()
    producer = Producer(given)
    await put(given, (b"a", b"old"))
    await producer.abort((b"a", b"aborted"))
    move, moves = given.ledger.move_cursor, []

    async def stop(*args: object) -> None:
        moves.append(args)
        if len(moves) == stops_after:
            raise ConnectionError
        await move(*args)

    given.ledger.move_cursor = stop
    for _ in range(4):
        try:
            await tick(given, GRACE)
        except ConnectionError:
            given = given.another()
        at = await cleaned_to(given)
        assert at or await listed(given)
        assert (0, b"a", b"old") in await committed(given)
    given.ledger.move_cursor = move
    for _ in range(4):
        await tick(given, GRACE)
    assert not await listed(given)


async def test_one_end_of_what_is_gone_is_remembered():
    given = await a_changelog()
    producer, names = Producer(given), set()
    for _ in range(5):
        await producer.abort((b"a", b"1"))
        await tick(given, GRACE)
        names.add(f"{GONE} {await given.ledger.cursor(PARTITION, GONE)}")
    held = [name for name in names if await given.ledger.cursor(PARTITION, name)]
    assert len(names) > 2
    assert len(held) == 1


async def test_an_end_without_its_time_forgets_nothing():
    """As two janitors may leave it that note theirs at the same time."""
    given = await a_changelog()
    await Producer(given).abort((b"a", b"1"))
    await given.ledger.move_cursor(PARTITION, GONE, 2)
    await tick(given)
    assert await listed(given)
    await tick(given, GRACE)
    assert not await listed(given)
