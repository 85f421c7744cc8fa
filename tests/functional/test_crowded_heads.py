"""Many processes commit to one partition: none pays for what others left in its head."""

import asyncio
from collections import Counter
from typing import Any

import pytest
from functional.given import a_partition
from functional.journals import SetClock, a_claim, a_journal, extents_of, put, words

from samsa.aws.journal import HeadJournal
from samsa.aws.tidying import Settling
from samsa.local.memory import MemoryObjects
from samsa.ports import Aborted, End, Partition, Unavailable
from samsa.ports.bounds import (
    FEW_PRODUCERS,
    FRUGAL_INLINE_BYTES,
    IDLE_PRODUCER_MS,
    LONG_TAIL_BYTES,
    OTHERS_BYTES,
    SETTLE_OTHERS_MS,
)
from samsa.ports.heads import MOST_REMOVED

DATA = b"d" * 1_000
CROWD = 12
ROUNDS = 4


async def in_turn(journals: list[HeadJournal], partition: Partition) -> None:
    """As functions do: each settles what it has committed before it ends."""
    for _ in range(ROUNDS):
        for journal in journals:
            await put(journal, partition, DATA)
            await journal.drain()


async def test_each_entry_is_written_to_the_index_once_and_leaves_the_head_soon(dynamodb: Any):
    partition, clock = await a_partition(dynamodb), SetClock()
    journals = [a_journal(dynamodb, clock=clock) for _ in range(CROWD)]
    before = Counter(dynamodb.requests)
    await in_turn(journals, partition)
    requests = Counter(dynamodb.requests) - before
    appends = CROWD * ROUNDS
    assert requests["PutItem"] == appends
    state = await dynamodb.head_state(partition)
    assert state.weight < LONG_TAIL_BYTES
    assert len(await extents_of(dynamodb, partition)) == appends


async def test_one_process_alone_makes_no_update_only_to_take_entries_out(dynamodb: Any):
    partition = await a_partition(dynamodb)
    before = Counter(dynamodb.requests)
    await in_turn([a_journal(dynamodb)], partition)
    requests = Counter(dynamodb.requests) - before
    assert (requests["UpdateItem"], requests["PutItem"]) == (ROUNDS, ROUNDS)
    assert len((await dynamodb.head(partition)).tail) == 1


async def test_small_appends_to_a_crowded_head_are_objects(dynamodb: Any):
    """There each other commit would be billed for their bytes."""
    partition, objects = await a_partition(dynamodb), MemoryObjects()
    journals = [a_journal(dynamodb, objects) for _ in range(6)]
    for journal in journals:
        await journal.next_offset(partition)
    for journal in journals:  # none has seen what the others did since
        await put(journal, partition, DATA)
    state = await dynamodb.head_state(partition)
    assert state.weight > OTHERS_BYTES
    assert objects.calls["put"] == 0
    await put(journals[-1], partition, DATA)
    assert objects.calls["put"] == 1
    for journal in journals:
        await journal.drain()


async def test_what_a_process_left_that_is_gone_is_settled_by_another(dynamodb: Any):
    partition, clock = await a_partition(dynamodb), SetClock()
    gone, other = a_journal(dynamodb, clock=clock), a_journal(dynamodb, clock=clock)
    gone._tidier.begin_settling = lambda *_, **__: None  # type: ignore[method-assign]
    await put(gone, partition, DATA)
    await put(other, partition, DATA)
    await other.drain()
    assert [e.base for e in await dynamodb.extents(partition, 0, 10)] == [1]
    clock.now += SETTLE_OTHERS_MS + 1
    await put(other, partition, DATA)
    await other.drain()
    assert [e.base for e in await dynamodb.extents(partition, 0, 10)] == [0, 1, 2]


async def test_a_tail_that_is_too_long_is_settled_before_the_next_commit(dynamodb: Any):
    """By one look at the index, and not by writing again what is there. Its entries are old: who
    committed them may be gone."""
    partition, clock = await a_partition(dynamodb), SetClock()
    journals = [a_journal(dynamodb, clock=clock) for _ in range(10)]
    for journal in journals:
        await journal.next_offset(partition)
    for journal in journals:
        journal._tidier.begin_settling = lambda *_, **__: None  # type: ignore[method-assign]
        await put(journal, partition, DATA)
    for entry in (await dynamodb.head(partition)).tail[:-1]:
        await dynamodb.index(partition, entry)
    clock.now += SETTLE_OTHERS_MS + 1
    before = Counter(dynamodb.requests)
    await put(journals[-1], partition, DATA)
    requests = Counter(dynamodb.requests) - before
    assert requests["PutItem"] == 1
    assert len((await dynamodb.head(partition)).tail) == 1
    assert len(await extents_of(dynamodb, partition)) == 11


async def test_a_commit_does_not_settle_what_others_are_about_to_settle(dynamodb: Any):
    partition = await a_partition(dynamodb)
    journals = [a_journal(dynamodb) for _ in range(10)]
    for journal in journals:
        await journal.next_offset(partition)
    for journal in journals:
        journal._tidier.begin_settling = lambda *_, **__: None  # type: ignore[method-assign]
        await put(journal, partition, DATA)
    before = Counter(dynamodb.requests)
    await put(journals[-1], partition, DATA)
    requests = Counter(dynamodb.requests) - before
    assert requests == {"UpdateItem": 1}


async def test_a_function_settles_beside_its_next_commit_and_waits_for_none(dynamodb: Any):
    partition = await a_partition(dynamodb)
    journal = HeadJournal(dynamodb, MemoryObjects(), words(), SetClock(), settling=Settling.BESIDE)
    await journal.next_offset(partition)
    index, gate, begun = dynamodb.index, asyncio.Event(), []

    async def held(*what: Any) -> None:
        begun.append(what)
        await gate.wait()
        await index(*what)

    dynamodb.index = held
    await put(journal, partition, DATA)
    await journal.drain()  # there is nothing to wait for
    assert begun == []
    await put(journal, partition, DATA)  # does not wait for what it has begun to settle
    assert len(begun) == 1
    gate.set()
    await journal.drain()
    await put(journal, partition, DATA)
    await journal.drain()
    assert [entry.base for entry in (await dynamodb.head(partition)).tail] == [1, 2]
    assert len(await extents_of(dynamodb, partition)) == 3


async def test_what_lingered_is_in_the_index_and_out_of_the_head_when_its_call_ends(dynamodb: Any):
    partition, objects = await a_partition(dynamodb), MemoryObjects()
    journals = [
        HeadJournal(dynamodb, objects, words(), SetClock(), settling=Settling.AT_ONCE)
        for _ in range(3)
    ]
    before = Counter(dynamodb.requests)
    await in_turn(journals, partition)
    requests, appends = Counter(dynamodb.requests) - before, len(journals) * ROUNDS
    assert (requests["UpdateItem"], requests["PutItem"]) == (2 * appends, appends)
    assert (await dynamodb.head(partition)).tail == ()
    assert len(await extents_of(dynamodb, partition)) == appends


async def test_functions_that_crowd_a_head_take_out_what_they_committed_at_once(dynamodb: Any):
    """Else each of them would settle all that the others have left there."""
    partition, objects = await a_partition(dynamodb), MemoryObjects()
    journals = [
        HeadJournal(dynamodb, objects, words(), SetClock(), settling=Settling.BESIDE)
        for _ in range(CROWD)
    ]
    await in_turn(journals, partition)
    before = Counter(dynamodb.requests)
    await in_turn(journals, partition)
    requests, appends = Counter(dynamodb.requests) - before, CROWD * ROUNDS
    assert requests["PutItem"] <= 1.2 * appends
    assert requests["UpdateItem"] <= 2.2 * appends
    assert (await dynamodb.head_state(partition)).weight < LONG_TAIL_BYTES


@pytest.mark.parametrize(("size", "puts"), [(FRUGAL_INLINE_BYTES, 0), (FRUGAL_INLINE_BYTES + 1, 1)])
async def test_what_lingered_is_put_where_a_put_costs_less(dynamodb: Any, size: int, puts: int):
    partition, objects = await a_partition(dynamodb), MemoryObjects()
    journal = HeadJournal(dynamodb, objects, words(), SetClock(), settling=Settling.AT_ONCE)
    await put(journal, partition, bytes(size))
    await journal.drain()
    assert objects.calls["put"] == puts


async def test_a_function_does_not_evict_the_producer_that_it_serves(dynamodb: Any):
    partition, clock = await a_partition(dynamodb), SetClock()
    journal = HeadJournal(dynamodb, MemoryObjects(), words(), clock, settling=Settling.BESIDE)
    for producer_id in range(FEW_PRODUCERS + 1):
        await put(journal, partition, DATA, [a_claim(producer_id)])
    await journal.drain()
    clock.now += 2 * IDLE_PRODUCER_MS
    await put(journal, partition, DATA, [a_claim(0, after=1)])
    await journal.drain()
    assert (await dynamodb.head_state(partition)).producers.keys() == {0}


# Aborted transactions


async def abort(journal: HeadJournal, partition: Partition, after: int = 0) -> None:
    await put(journal, partition, claims=[a_claim(7, after=after)._replace(opens=0)])
    await put(journal, partition, claims=[a_claim(7, after=after + 1)._replace(ends=End.ABORT)])


async def found(ledger: Any, partition: Partition) -> list[Aborted]:
    """As a reader finds them: the head first."""
    head = await ledger.head(partition)
    return sorted({*await ledger.aborted(partition, 0, head.next_offset), *head.aborted})


@pytest.mark.parametrize("settling", Settling)
async def test_what_was_aborted_is_found_after_each_step_of_settling(
    dynamodb: Any, settling: Settling
):
    partition = await a_partition(dynamodb)
    journal = HeadJournal(dynamodb, MemoryObjects(), words(), SetClock(), settling=settling)
    steps = Counter[int]()
    for name in ("index", "store_aborted", "take_out", "update_head"):
        method = getattr(dynamodb, name)

        async def watched(*arguments: Any, method: Any = method) -> Any:
            done = await method(*arguments)
            steps[len(await found(dynamodb, partition))] += 1
            return done

        setattr(dynamodb, name, watched)
    for number in range(5):
        await abort(journal, partition, 2 * number)
        await journal.drain()
        assert [one.marker for one in await found(dynamodb, partition)] == [
            2 * n + 1 for n in range(number + 1)
        ]
    assert steps.keys() == set(range(6))
    await journal.settle(partition)
    head = await dynamodb.head(partition)
    assert (head.tail, head.aborted, head.aborted_to) == ((), (), 10)
    assert len(await dynamodb.aborted(partition, 0, 10)) == 5


async def test_a_marker_costs_one_write_more_if_its_transaction_is_aborted(dynamodb: Any):
    partition = await a_partition(dynamodb)
    journal = a_journal(dynamodb)
    claims = [a_claim(7)._replace(opens=0), a_claim(8)._replace(opens=1)]
    await put(journal, partition, claims=claims, offsets=2)
    await journal.drain()
    costs = []
    for producer_id, end in ((7, End.COMMIT), (8, End.ABORT)):
        before = Counter(dynamodb.requests)
        claim = a_claim(producer_id, after=1)._replace(ends=end)
        await put(journal, partition, claims=[claim])
        await journal.drain()
        costs.append(Counter(dynamodb.requests) - before)
    assert costs == [{"UpdateItem": 1, "PutItem": 1}, {"UpdateItem": 1, "PutItem": 2}]


async def test_who_settles_for_a_process_that_is_gone_stores_what_it_has_aborted(dynamodb: Any):
    """Whether that process came as far as the index, or had stored only that; and it is not stored
    again if its marker is in the index."""
    partition = await a_partition(dynamodb)
    gone, other = a_journal(dynamodb), a_journal(dynamodb)
    gone._tidier.begin_settling = lambda *_, **__: None  # type: ignore[method-assign]
    for number in range(3):
        await abort(gone, partition, 2 * number)
    head = await dynamodb.head(partition)
    await dynamodb.store_aborted(partition, head.aborted[0])
    await dynamodb.store_aborted(partition, head.aborted[1])
    await dynamodb.index(partition, head.tail[1])
    before = Counter(dynamodb.requests)
    await other.settle(partition)
    requests = Counter(dynamodb.requests) - before
    assert requests["PutItem"] == 5 + 2  # extents, and aborted transactions
    assert await dynamodb.aborted(partition, 0, 6) == list(head.aborted)


async def test_settling_that_could_not_store_what_was_aborted_leaves_its_marker_in_the_head(
    dynamodb: Any, monkeypatch: pytest.MonkeyPatch
):
    async def fails(*_: Any) -> None:
        raise Unavailable("slow down")

    partition, journal = await a_partition(dynamodb), a_journal(dynamodb)
    with monkeypatch.context() as patched:
        patched.setattr(dynamodb, "store_aborted", fails)
        await abort(journal, partition)
        await journal.drain()
        with pytest.raises(Unavailable):
            await journal.settle(partition)
        await put(journal, partition)
        await journal.drain()
    head = await dynamodb.head(partition)
    assert head.tail[0].base == 1
    # In the index it would count as settled, for all others too.
    assert 1 not in [extent.base for extent in await dynamodb.extents(partition, 0, 9)]
    assert [one.marker for one in head.aborted] == [1]
    await journal.settle(partition)
    assert [one.marker for one in await dynamodb.aborted(partition, 0, 9)] == [1]


async def test_a_tail_of_markers_is_settled_whole(dynamodb: Any):
    """More of them than one update takes out."""
    partition, journal = await a_partition(dynamodb), a_journal(dynamodb)
    journal._tidier.begin_settling = lambda *_, **__: None  # type: ignore[method-assign]
    many = MOST_REMOVED + 3
    claims = [a_claim(n)._replace(opens=n) for n in range(many)]
    await put(journal, partition, claims=claims, offsets=many)
    for n in range(many):
        await put(journal, partition, claims=[a_claim(n, after=1)._replace(ends=End.ABORT)])
    head = await dynamodb.head(partition)
    assert len(head.aborted) == many
    await journal.settle(partition)
    assert (await dynamodb.head(partition)).aborted == ()
    assert await dynamodb.aborted(partition, 0, 99) == list(head.aborted)


async def test_a_partition_without_aborted_transactions_costs_nothing_to_drop(dynamodb: Any):
    partition, journal = await a_partition(dynamodb), a_journal(dynamodb)
    await put(journal, partition)
    await journal.settle(partition)
    await dynamodb.advance_start(partition, 1)
    before = Counter(dynamodb.requests)
    assert await dynamodb.drop_extents(partition, 1) == 1
    assert Counter(dynamodb.requests) - before == {"Query": 1, "BatchWriteItem": 1}
    await put(journal, partition, claims=[a_claim(7)._replace(opens=0)])
    await put(journal, partition, claims=[a_claim(7, after=1)._replace(ends=End.ABORT)])
    await journal.settle(partition)
    assert await dynamodb.drop_extents(partition, 3) == 2
    assert await dynamodb.aborted(partition, 0, 9) == []
