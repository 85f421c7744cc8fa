"""Entries on their way from the head's tail to the index: nobody misses one, or reads it twice."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from unit.log.given import PARTITION, a_batch
from unit.log.tailed import Tailed, a_tailed_log

from samsa.log.compact_plan import Compaction
from samsa.log.layout import Batch
from samsa.log.merge import RoundBudget
from samsa.log.retain import UP_TO_THE_END, Retention
from samsa.log.times import Found
from samsa.records import Record, build, read_header

APPENDS = 8
VALUES = [b"%d" % number for number in range(APPENDS)]
OLD = 60_000


def stamped(number: int) -> Batch:
    data = bytearray(build([Record(0, 1_000 + number, b"key", b"%d" % number)]))
    return Batch(read_header(data), memoryview(data))


async def with_a_tail(*bases: int, **limits: int) -> Tailed:
    given = await a_tailed_log(**limits)
    for number in range(APPENDS):
        await given.append(stamped(number))
    await given.ledger.unsettle(*bases)
    return given


def then_settle(given: Tailed, call: str) -> Any:
    """As soon as the ledger has answered such a call, all entries move to the index."""
    real: Callable[..., Any] = getattr(given.ledger, call)

    async def answer(*what: Any) -> Any:
        found = await real(*what)
        await given.ledger.settle()
        return found

    return patch.object(given.ledger, call, answer)


TAILS = pytest.mark.parametrize(
    "tail", [range(APPENDS), range(4, APPENDS), (0, 3, 5), (7,), (1, 2, 6, 7)], ids=str
)


@TAILS
@pytest.mark.parametrize("call", ["head", "extents"])
async def test_an_entry_that_leaves_the_tail_between_two_looks_is_read(tail, call: str):
    for offset in range(APPENDS):
        given = await with_a_tail(*tail)
        with then_settle(given, call):
            assert await given.values(offset) == VALUES[offset:]
        assert await given.values(offset) == VALUES[offset:]


@TAILS
@pytest.mark.parametrize("call", ["head", "extent_at_time", "newest_extent"])
async def test_an_entry_that_leaves_the_tail_between_two_looks_is_found_by_its_time(
    tail, call: str
):
    for offset in range(APPENDS):
        given = await with_a_tail(*tail)
        with then_settle(given, call):
            found = await given.log.times.at(PARTITION, 1_000 + offset)
        assert found == Found(offset, 1_000 + offset)
    given = await with_a_tail(*tail)
    with then_settle(given, call):
        assert await given.log.times.newest(PARTITION) == Found(7, 1_007)


@TAILS
async def test_an_extent_that_is_in_the_tail_and_in_the_index_is_read_once(tail):
    given = await with_a_tail(*tail)
    size = await given.log.retainer.size(PARTITION)
    for entry in given.ledger.tail:
        await given.ledger.index(PARTITION, entry)
    assert await given.values() == VALUES
    assert await given.log.retainer.size(PARTITION) == size


@TAILS
async def test_what_was_settled_and_merged_since_the_head_was_read_is_read_once(tail):
    given = await with_a_tail(*tail)
    plan = await given.log.plan(PARTITION, 0, 1_000)
    old = await given.ledger.head(PARTITION)
    await given.ledger.settle()
    assert await given.log.merger.copy(PARTITION, await given.index())
    reader, offset, ends = given.log.reader, 0, []
    while offset < APPENDS:
        for extent in await reader.extents_from(PARTITION, offset, APPENDS, 99, old):
            assert extent.base <= offset < extent.end
            offset = extent.end
            ends.append(offset)
    assert ends == sorted(set(ends))
    assert len(await given.log.load(plan.ranges)) == APPENDS


@TAILS
async def test_a_merge_settles_first(tail):
    given = await with_a_tail(*tail)
    given.clock.now += OLD
    await given.log.merger.merge(PARTITION, RoundBudget(10**9, 10**6))
    assert [extent.offsets for extent in await given.index()] == [APPENDS]
    assert await given.values() == VALUES


@TAILS
async def test_a_compaction_settles_first(tail):
    given = await with_a_tail(*tail)
    given.clock.now += OLD
    rules = Compaction(dirty_ratio=0, active_ms=0)
    assert await given.log.compactor.compact(PARTITION, rules)
    assert await given.values() == VALUES[-1:]


async def test_a_log_without_a_tail_is_not_settled():
    given = await with_a_tail()
    with patch.object(given.journal, "settle", side_effect=AssertionError):
        await given.log.merger.merge(PARTITION, RoundBudget(10**9, 10**6))
        await given.log.compactor.compact(PARTITION, Compaction())


@pytest.mark.parametrize("kept", [1, 4, 6])
async def test_nothing_from_the_first_entry_of_the_tail_on_is_merged_or_compacted(kept: int):
    """What is in the tail still names its object, whatever happens to the index."""
    given = await with_a_tail(*range(APPENDS))
    given.clock.now += OLD
    with patch.object(given.journal, "settle", lambda _: given.ledger.settle(but=kept)):
        await given.log.merger.merge(PARTITION, RoundBudget(10**9, 10**6))
        await given.log.compactor.compact(PARTITION, Compaction(dirty_ratio=0, active_ms=0))
    assert [entry.base for entry in given.ledger.tail] == [kept]
    after = [extent.base for extent in await given.index() if extent.base >= kept]
    assert after == [*range(kept + 1, APPENDS)]
    assert await given.values() == VALUES[kept - 1 :]


async def test_what_was_deleted_while_it_was_in_the_tail_goes_once_it_is_settled():
    given = await with_a_tail(*range(APPENDS), sweep_grace_ms=1_000)
    assert await given.log.retainer.delete_before(PARTITION, UP_TO_THE_END) == APPENDS
    assert await given.values(APPENDS) == []
    assert await given.log.times.at(PARTITION, 0) is None
    assert await given.log.times.newest(PARTITION) is None
    await given.ledger.settle()
    for _ in range(2):
        await given.log.retainer.retain(PARTITION, Retention())
        given.clock.now += 1_000
    await given.log.retainer.retain(PARTITION, Retention())
    assert (await given.index(), await given.keys()) == ([], [])


async def test_a_reader_that_is_overtaken_by_a_deletion_is_told_where_the_log_begins():
    given = await with_a_tail(6)
    look, looks = given.ledger.extents, 0

    async def overtaken(*what: Any) -> Any:
        nonlocal looks
        looks += 1
        if looks == 1:
            await given.another().log.retainer.delete_before(PARTITION, 4)
        return await look(*what)

    given.ledger.extents = overtaken  # type: ignore[method-assign]
    assert await given.log.retainer.retain(PARTITION, Retention(max_bytes=1)) == 4


async def test_an_append_goes_on_behind_what_is_in_the_tail():
    given = await with_a_tail(*range(4, APPENDS))
    (outcome,) = await given.append(a_batch(b"more"))
    assert outcome.offset == APPENDS
    assert await given.values() == [*VALUES, b"more"]
