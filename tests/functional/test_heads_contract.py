"""What a store of heads promises: each call happens as a whole, or not at all."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from functional.conftest import open_ledger
from functional.given import a_partition, an_extent, an_unknown_partition, an_update
from functional.journals import A_TIME, A_WEEK, SetClock, a_claim, a_journal, put

from samsa.ports import Aborted, Bound, Claim, End, Partition, UnknownPartition
from samsa.ports.bounds import FEW_PRODUCERS, IDLE_PRODUCER_MS
from samsa.ports.heads import HeadClaim, HeadProducer, HeadState, HeadUpdate

SOON = A_TIME + 60_000


@pytest.fixture(params=["dynamodb-moto", "dynamodb-local"])
async def heads(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Any]:
    heads: Any = await open_ledger(request.param, tmp_path, request)
    yield heads
    await heads.close()


@pytest.fixture
async def partition(heads: Any) -> Partition:
    return await a_partition(heads)


def claiming(name: str, *claims: HeadClaim, offsets: int = 1, **rest: Any) -> HeadUpdate:
    return an_update(name, offsets=offsets)._replace(claims=claims, now_ms=A_TIME, **rest)


def first(producer_id: int, evictions: int = 0) -> HeadClaim:
    return HeadClaim(Claim(producer_id, b"one", 0, SOON), evictions)


def after(producer_id: int, version: int) -> HeadClaim:
    return HeadClaim(Claim(producer_id, b"next", version, SOON), None)


def ending(claim: HeadClaim, first: int, stable: int) -> HeadClaim:
    return claim._replace(closes=True, aborted=(first, stable))


async def test_an_update_adds_the_entry_at_the_next_offset_whatever_it_guessed(
    heads: Any, partition: Partition
):
    one, two = an_extent(0, 10, id="one"), an_extent(0, 5, id="two", marks=((2, 70),), times=(3,))
    assert (await heads.update_head(partition, HeadUpdate(one, 0)))[1]
    state, done = await heads.update_head(partition, HeadUpdate(two, 0))
    assert done
    assert state == await heads.head_state(partition)
    assert (state.head.next_offset, state.head.log_start) == (15, 0)
    assert [(e.id, e.base, e.end, e.shift) for e in state.head.tail] == [
        ("one", 0, 10, 0),
        ("two", 10, 15, 10),
    ]
    assert (state.head.tail[1].marks, state.head.tail[1].times) == (((2, 70),), (3,))


async def test_a_claim_is_stored_with_the_base_of_its_commit(heads: Any, partition: Partition):
    await heads.update_head(partition, an_update("one", offsets=10))
    state, done = await heads.update_head(partition, claiming("two", first(7)))
    assert done
    assert state.producers == {7: HeadProducer(Bound(1, b"one", 10), A_TIME, SOON)}
    state, _ = await heads.update_head(partition, claiming("three", after(7, 1)))
    assert state.producers[7].bound == Bound(2, b"next", 11)


async def prepared(heads: Any, partition: Partition) -> HeadState:
    """An entry, two producers, an open transaction, a sweep and an eviction."""
    claims = [first(6)._replace(opens=0), first(7), first(8)]
    await heads.update_head(partition, claiming("there", *claims))
    state = await heads.head_state(partition)
    await heads.evict(partition, {8: state.producers[8]})
    state = await heads.count_sweep(partition)
    assert (state.sweeps, state.evictions, set(state.producers)) == (1, 1, {6, 7})
    assert state.head.open_transactions == {6: 0}
    return state


@pytest.mark.parametrize(
    "update",
    [
        pytest.param(an_update("there", 1), id="its id is in the tail"),
        pytest.param(an_update("new", 0), id="a sweep was counted since"),
        pytest.param(an_update("new", 2), id="a sweep was not counted yet"),
        pytest.param(claiming("new", after(7, 2), sweeps=1), id="another version"),
        pytest.param(claiming("new", after(9, 1), sweeps=1), id="no such producer in the head"),
        pytest.param(claiming("new", first(7, 1), sweeps=1), id="the producer is in the head"),
        pytest.param(claiming("new", first(9, 0), sweeps=1), id="producers were evicted since"),
        pytest.param(
            claiming("new", after(7, 1), first(9, 0), sweeps=1), id="one of two claims is lost"
        ),
        pytest.param(
            claiming("new", after(7, 1), sweeps=1, settled={"there": 5}),
            id="what is settled has another base",
        ),
        pytest.param(
            claiming("new", after(7, 2)._replace(opens=0), sweeps=1),
            id="it opens, by another version",
        ),
        pytest.param(
            claiming("new", ending(after(6, 2), 0, 0), sweeps=1), id="it ends, by another version"
        ),
    ],
)
async def test_an_update_that_does_not_hold_changes_nothing(
    heads: Any, partition: Partition, update: HeadUpdate
):
    before = await prepared(heads, partition)
    assert await heads.update_head(partition, update) == (before, False)
    assert await heads.head_state(partition) == before


async def test_an_update_that_holds_does_all_of_it_at_once(heads: Any, partition: Partition):
    await prepared(heads, partition)
    update = claiming(
        "new", after(7, 1), first(9, 1), sweeps=1, settled={"there": 0, "long gone": 3}
    )
    state, done = await heads.update_head(partition, update)
    assert done
    assert [(entry.id, entry.base) for entry in state.head.tail] == [("new", 1)]
    assert {p: one.bound.version for p, one in state.producers.items()} == {6: 1, 7: 2, 9: 1}


async def test_entries_are_taken_out_by_id_and_base_all_or_none(heads: Any, partition: Partition):
    for name in ("one", "two"):
        await heads.update_head(partition, an_update(name))
    state = await heads.take_out(partition, {"one": 0, "two": 7})  # of a time long ago
    assert [entry.id for entry in state.head.tail] == ["one", "two"]
    for _ in range(2):  # as it is when the first answer is lost
        state = await heads.take_out(partition, {"one": 0})
        assert [entry.id for entry in state.head.tail] == ["two"]
    assert state.head.next_offset == 2


async def test_producers_are_evicted_all_or_none_and_it_is_counted(
    heads: Any, partition: Partition
):
    await heads.update_head(partition, claiming("one", first(7), first(8)))
    before = await heads.head_state(partition)
    await heads.update_head(partition, claiming("two", after(8, 1)))
    state = await heads.evict(partition, before.producers)  # one of them came back since
    assert (set(state.producers), state.evictions) == ({7, 8}, 0)
    state = await heads.evict(partition, state.producers)
    assert (state.producers, state.evictions) == ({}, 1)
    state = await heads.evict(partition, before.producers)  # late
    assert state.evictions == 1


async def test_a_producers_own_item_never_goes_back(heads: Any, partition: Partition):
    versions = [HeadProducer(Bound(v, b"%d" % v, v), A_TIME, SOON) for v in range(1, 4)]
    assert await heads.producer_item(partition, 7) is None
    for number, newest in [(1, 2), (0, 2), (1, 2), (2, 3)]:
        await heads.store_producer(partition, 7, versions[number])
        assert await heads.producer_item(partition, 7) == Bound(newest, b"%d" % newest, newest)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("head_state", ()),
        ("update_head", (an_update("one"),)),
        ("take_out", ({"one": 0},)),
        ("count_sweep", ()),
        ("evict", ({7: HeadProducer(Bound(1, b"", 0), 0, 0)},)),
    ],
)
async def test_a_head_that_is_not_there_is_named_as_such_and_not_made(
    heads: Any, method: str, arguments: tuple[Any, ...]
):
    partition = an_unknown_partition()
    with pytest.raises(UnknownPartition):
        await getattr(heads, method)(partition, *arguments)
    with pytest.raises(UnknownPartition):
        await heads.head_state(partition)


async def test_the_age_of_a_head_never_decreases(heads: Any, partition: Partition):
    states = [await heads.head_state(partition)]
    states.append((await heads.update_head(partition, claiming("one", first(7))))[0])
    states.append(await heads.count_sweep(partition))
    states.append(await heads.evict(partition, states[-1].producers))
    states.append(await heads.take_out(partition, {"one": 0}))
    ages = [state.age for state in states]
    assert ages == sorted(ages)
    assert len(set(ages)) == 4  # taking out is not seen in it


# Transactions


async def test_a_transaction_opens_at_its_distance_from_the_base(heads: Any, partition: Partition):
    await heads.update_head(partition, an_update("one", offsets=10))
    claims = [first(7)._replace(opens=0), first(8)._replace(opens=3), first(9)]
    state, done = await heads.update_head(partition, claiming("two", *claims, offsets=5))
    assert done
    assert state.head.open_transactions == {7: 10, 8: 13}
    assert (state.head.stable_end, state.head.aborted_to) == (10, 0)
    assert state == await heads.head_state(partition)
    assert await heads.head(partition) == state.head


async def test_a_marker_closes_its_own_transaction_and_lists_it_if_it_is_aborted(
    heads: Any, partition: Partition
):
    claims = [first(n)._replace(opens=n) for n in (1, 2, 3)]
    await heads.update_head(partition, claiming("data", *claims, offsets=5))
    state, _ = await heads.update_head(
        partition, claiming("commit", after(1, 1)._replace(closes=True))
    )
    assert (state.head.open_transactions, state.head.aborted) == ({2: 2, 3: 3}, ())
    assert state.head.aborted_to == 0
    state, _ = await heads.update_head(partition, claiming("abort", ending(after(3, 1), 3, 2)))
    assert state.head.open_transactions == {2: 2}
    assert state.head.aborted == (Aborted(6, 3, 3, 2),)
    assert state.head.aborted_to == state.head.next_offset == 7
    state, _ = await heads.update_head(partition, claiming("too", ending(after(2, 1), 2, 2**62)))
    assert state.head.aborted == (Aborted(6, 3, 3, 2), Aborted(7, 2, 2, 2**62))
    assert state.head.stable_end == state.head.aborted_to == 8
    assert state == await heads.head_state(partition)


async def aborting(heads: Any, partition: Partition, *names: str) -> HeadState:
    """For each name a marker that aborts what the entry before it began."""
    state = await heads.head_state(partition)
    for name in names:
        there, base = state.producers.get(7), state.head.next_offset
        claim = after(7, there.bound.version) if there else first(7, state.evictions)
        begin = claiming(f"of {name}", claim._replace(opens=0), sweeps=state.sweeps)
        state, _ = await heads.update_head(partition, begin)
        marker = ending(after(7, state.producers[7].bound.version), base, base + 1)
        state, done = await heads.update_head(partition, claiming(name, marker))
        assert done
    return state


async def test_what_is_aborted_leaves_the_head_with_its_marker_and_not_before(
    heads: Any, partition: Partition
):
    state = await aborting(heads, partition, "one", "two", "three")
    all_three = state.head.aborted
    assert [one.marker for one in all_three] == [1, 3, 5]
    state = await heads.take_out(partition, {"one": 1, "of two": 2, "two": 7})  # of a time long ago
    assert state.head.aborted == all_three
    state = await heads.take_out(partition, {"of two": 2})
    assert state.head.aborted == all_three
    state = await heads.take_out(partition, {"one": 1})
    assert state.head.aborted == all_three[1:]
    state, _ = await heads.update_head(partition, an_update("next")._replace(settled={"two": 3}))
    assert state.head.aborted == all_three[2:]
    assert state.head.aborted_to == 6


async def test_an_evicted_producer_leaves_its_transaction_in_the_head(
    heads: Any, partition: Partition
):
    state, _ = await heads.update_head(partition, claiming("data", first(7)._replace(opens=0)))
    state = await heads.evict(partition, state.producers)
    assert (state.producers, state.head.open_transactions) == ({}, {7: 0})
    back = HeadClaim(Claim(7, b"ended", 1, SOON), state.evictions, closes=True, aborted=(0, 1))
    state, done = await heads.update_head(partition, claiming("marker", back))
    assert done
    assert (state.head.open_transactions, state.head.aborted) == ({}, (Aborted(1, 7, 0, 1),))


async def test_what_is_stored_of_an_aborted_transaction_is_found_once_however_often_it_is_stored(
    heads: Any, partition: Partition
):
    one, two = Aborted(5, 7, 2, 6), Aborted(6, 2**62, 0, 2**62)
    for each in (two, one, two):
        await heads.store_aborted(partition, each)
    assert await heads.aborted(partition, 0, 10) == [one, two]


async def test_what_is_forgotten_is_not_listed_again_although_it_is_stored_late(
    heads: Any, partition: Partition
):
    """By a process that stood still: its marker may be gone, and a reader would leave out what the
    producer wrote later."""
    one, two = Aborted(5, 7, 2, 6), Aborted(9, 7, 8, 10)
    for each in (one, two):
        await heads.store_aborted(partition, each)
    await heads.forget_aborted(partition, [5], 6)
    await heads.store_aborted(partition, one)
    assert (await heads.head(partition)).aborted_from == 6
    assert await heads.aborted(partition, 0, 20) == [two]
    await heads.forget_aborted(partition, [], 3)
    assert (await heads.head(partition)).aborted_from == 6


# Producers that leave the head, and come back


async def test_a_producer_that_left_the_head_goes_on_where_it_was(heads: Any, partition: Partition):
    clock = SetClock()
    journal, other = a_journal(heads, clock=clock), a_journal(heads, clock=clock)
    for producer_id in range(FEW_PRODUCERS + 1):
        await put(journal, partition, claims=[a_claim(producer_id, b"one")])
    clock.now += IDLE_PRODUCER_MS + 1_000
    await put(journal, partition, claims=[a_claim(16, b"two", 1)])
    await journal.drain()
    state = await heads.head_state(partition)
    assert 0 not in state.producers
    assert state.evictions == 1
    for each in (journal, other):
        assert await each.producer(partition, 0) == Bound(1, b"one", 0)
        assert (await put(each, partition, claims=[a_claim(0, b"again")])).lost == (0,)
    assert (await put(other, partition, claims=[a_claim(0, b"two", 1)])).base is not None
    assert (await put(journal, partition, claims=[a_claim(0, b"two", 1)])).lost == (0,)
    assert (await journal.producer(partition, 0)).version == 2


async def test_a_producer_with_an_open_transaction_does_not_expire(
    heads: Any, partition: Partition
):
    """Neither in the head nor out of it; and it does once the transaction has ended."""
    clock = SetClock()
    journal = a_journal(heads, clock=clock)
    long_after = A_TIME + 2 * A_WEEK
    await put(journal, partition, claims=[a_claim(0, b"one")._replace(opens=0)])
    assert (await heads.producers(partition, long_after)).keys() == {0}
    for producer_id in range(1, FEW_PRODUCERS + 1):
        await put(journal, partition, claims=[a_claim(producer_id)])
    clock.now += IDLE_PRODUCER_MS + 1_000
    await put(journal, partition, claims=[a_claim(16, b"two", 1)])
    await journal.drain()
    assert 0 not in (await heads.head_state(partition)).producers
    assert await heads.producers(partition, long_after) == {0: Bound(1, b"one", 0)}
    marker = a_claim(0, b"ended", 1)._replace(ends=End.ABORT)
    assert (await put(journal, partition, claims=[marker])).base is not None
    assert (await heads.producers(partition, A_TIME))[0].version == 2
    assert await heads.producers(partition, long_after) == {}


async def test_an_evicted_producer_ends_the_transaction_that_it_has_open(
    heads: Any, partition: Partition
):
    """Whether its own item was read just now, or is remembered."""
    journal, other = a_journal(heads), a_journal(heads)
    claims = [a_claim(n, b"one")._replace(opens=0) for n in (7, 8)]
    await put(journal, partition, claims=claims, offsets=2)
    state = (await heads.head_state(partition)).producers
    for each, producer in state.items():
        await heads.store_producer(partition, each, producer)
    await heads.evict(partition, state)
    assert await other.producer(partition, 7) == Bound(1, b"one", 0)
    for each, producer_id in ((journal, 7), (other, 8)):
        await each.producer(partition, producer_id)
        claim = a_claim(producer_id, b"ended", 1)._replace(ends=End.ABORT)
        head = (await put(each, partition, claims=[claim])).head
        assert producer_id not in head.open_transactions
    assert head.aborted == (Aborted(2, 7, 0, 0), Aborted(3, 8, 0, 3))
