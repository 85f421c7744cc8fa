"""Objects that were put and never committed are deleted, and no others."""

import asyncio
from collections.abc import AsyncIterator
from unittest.mock import patch

import pytest
from unit.log.given import PARTITION, Given, a_batch, a_log, sequenced
from unit.log.tailed import a_tailed_log

from samsa.log.merge import RoundBudget
from samsa.log.retain import Retention
from samsa.log.stores import partition_prefix
from samsa.ports import Buffer, Missing, PendingDeletion, Unavailable

ORPHAN = f"{partition_prefix(PARTITION)}orphan"


async def sweep(given: Given) -> int:
    return await given.another().log.sweeper.find_orphans(PARTITION)


async def with_an_orphan(given: Given) -> Given:
    await given.objects.put_if_absent(ORPHAN, [b"x"])
    return given


async def test_what_was_put_by_a_writer_that_died_is_deleted():
    given = await a_log()
    await given.append(a_batch(b"stays"))

    async def die(*_: object) -> None:
        raise Unavailable("the process ends here")

    with patch.object(given.ledger, "commit", die), pytest.raises(Unavailable):
        await given.append(a_batch(b"goes"))
    assert len(await given.keys()) == 2
    assert await sweep(given) == 1
    assert len(await given.keys()) == 1
    assert await given.values() == [b"stays"]


async def test_objects_of_other_partitions_are_left_alone():
    given = await with_an_orphan(await a_log())
    others = [partition_prefix(PARTITION._replace(number=number)) + "x" for number in (1, 10)]
    for key in others:
        await given.objects.put_if_absent(key, [b"x"])
    assert await sweep(given) == 1
    assert await given.keys() == others


async def test_a_log_without_orphans_counts_no_sweep():
    given = await a_log()
    await given.append(a_batch())
    with patch.object(given.ledger, "count_sweep", side_effect=AssertionError):
        assert await sweep(given) == 0


async def test_what_was_put_before_the_sweep_is_not_shown_afterwards_without_its_bytes():
    given = await a_log()
    put, swept = given.objects.put_if_absent, []

    async def put_and_be_swept(key: str, parts: list[Buffer]) -> bool:
        stored = await put(key, parts)
        if not swept:
            swept.append(await sweep(given))
        return stored

    with patch.object(given.objects, "put_if_absent", put_and_be_swept):
        outcomes = await given.append(sequenced(0), a_batch(b"b"))
    assert swept == [1]
    assert [outcome.offset for outcome in outcomes] == [0, 1]
    assert await given.values() == [b"0", b"b"]
    assert await sweep(given) == 0


async def test_what_is_committed_between_the_listing_and_the_count_stays():
    given = await a_log()
    put, count = asyncio.Event(), asyncio.Event()
    commit, real_count = given.ledger.commit, given.ledger.count_sweep

    async def commit_late(*what: object) -> object:
        put.set()
        await count.wait()
        return await commit(*what)

    async def count_after_the_commit(*what: object) -> None:
        count.set()
        await appending
        await real_count(*what)

    with (
        patch.object(given.ledger, "commit", commit_late),
        patch.object(given.ledger, "count_sweep", count_after_the_commit),
    ):
        appending = asyncio.create_task(given.append(a_batch(b"a")))
        await put.wait()
        assert await sweep(given) == 0
    assert await given.values() == [b"a"]


@pytest.mark.parametrize("tail", [(0, 1, 2), (1,), (0, 2)], ids=str)
@pytest.mark.parametrize("moves", [False, True], ids=["stays", "is settled meanwhile"])
async def test_what_is_in_the_tail_stays(tail: tuple[int, ...], moves: bool):
    given = await a_tailed_log()
    for value in (b"a", b"b", b"c"):
        await given.append(a_batch(value))
    await with_an_orphan(given)
    await given.ledger.unsettle(*tail)
    look = given.ledger.extents

    async def settled_after(*what: int) -> object:
        found = await look(*what)
        if moves and given.ledger.calls["count_sweep"]:
            await given.ledger.settle()
        return found

    with patch.object(given.ledger, "extents", settled_after):
        assert await sweep(given) == 1
    assert bool(given.ledger.tail) is not moves
    assert await given.values() == [b"a", b"b", b"c"]


async def test_a_segment_that_is_being_written_stays():
    given = await with_an_orphan(await a_log())
    for number in range(5):
        await given.append(a_batch(b"%d" % number))
    given.clock.now += 60_000
    put, swept = given.objects.put_stream, []

    async def put_and_look(key: str, parts: AsyncIterator[Buffer]) -> None:
        await put(key, parts)
        swept.append(await sweep(given))

    with patch.object(given.objects, "put_stream", put_and_look):
        assert (await given.log.merger.merge(PARTITION, RoundBudget(10**9, 9))).runs == 1
    assert swept == [1]
    assert await given.values() == [b"%d" % number for number in range(5)]


async def test_a_segment_that_is_swapped_in_meanwhile_stays():
    """It is announced until then, and indexed from then on."""
    given = await with_an_orphan(await a_log())
    for number in range(5):
        await given.append(a_batch(b"%d" % number))
    run, deletions = await given.index(), given.ledger.pending_deletions
    put, ready, swap = given.objects.put_stream, asyncio.Event(), asyncio.Event()

    async def put_and_wait(key: str, parts: AsyncIterator[Buffer]) -> None:
        await put(key, parts)
        ready.set()
        await swap.wait()

    async def deletions_before_the_swap(*what: int) -> list[PendingDeletion]:
        found = await deletions(*what)
        if given.ledger.calls["count_sweep"] and not swap.is_set():
            swap.set()
            assert await merging
        return found

    with (
        patch.object(given.objects, "put_stream", put_and_wait),
        patch.object(given.ledger, "pending_deletions", deletions_before_the_swap),
    ):
        merging = asyncio.create_task(given.log.merger.copy(PARTITION, run))
        await ready.wait()
        await sweep(given)
    assert await given.values() == [b"%d" % number for number in range(5)]


async def test_what_waits_to_be_deleted_keeps_its_grace_time():
    given = await with_an_orphan(await a_log(sweep_grace_ms=1_000))
    await given.append(a_batch(b"a"))
    plan = await given.log.plan(PARTITION, 0, 1_000)
    await given.log.retainer.delete_before(PARTITION, 1)
    assert await sweep(given) == 1
    assert len(await given.log.load(plan.ranges)) == 1
    for _ in range(2):
        given.clock.now += 1_000
        await given.log.retainer.retain(PARTITION, Retention())
    with pytest.raises(Missing):
        await given.log.load(plan.ranges)


async def test_a_long_look_counts_what_it_deleted():
    given = await with_an_orphan(await a_log())
    await given.append(a_batch())
    census = await given.log.janitor.look(PARTITION)
    assert (census.objects, given.log.janitor.counts.orphans) == (1, 1)
