"""Commits whose outcome is not known, or that are refused: they happen once, or not at all."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from functional.flaky_heads import DROPPED, LIMBO, LOST, THROTTLED, FlakyHeads
from functional.given import a_partition
from functional.journals import SetClock, a_claim, a_journal, bytes_of, extents_of, put

import samsa.aws.commit
from samsa.aws.commit import TRIES
from samsa.aws.journal import HeadJournal
from samsa.local.memory import MemoryObjects
from samsa.ports import (
    Bound,
    Buffer,
    Claim,
    End,
    NotDone,
    Partition,
    PendingDeletion,
    Unavailable,
)
from samsa.ports.joining import join_extents

SMALL, LARGE = b"s" * 200, b"L" * 5_000


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samsa.aws.commit, "PAUSE_S", 0.001)


@pytest.fixture
def flaky(dynamodb: Any) -> FlakyHeads:
    return FlakyHeads(dynamodb)


@pytest.fixture
def objects() -> MemoryObjects:
    return MemoryObjects()


@pytest.fixture
def journal(flaky: FlakyHeads, objects: MemoryObjects) -> HeadJournal:
    return a_journal(flaky, objects)


@pytest.fixture
async def partition(dynamodb: Any) -> Partition:
    return await a_partition(dynamodb)


Before = Callable[[str, Callable[[], Awaitable[Any]]], None]


@pytest.fixture
def before(dynamodb: Any, monkeypatch: pytest.MonkeyPatch) -> Before:
    """Have something happen before the next call of a method."""

    def arrange(name: str, happens: Callable[[], Awaitable[Any]]) -> None:
        method = getattr(dynamodb, name)

        async def call(*arguments: Any) -> Any:
            monkeypatch.setattr(dynamodb, name, method)
            await happens()
            return await method(*arguments)

        monkeypatch.setattr(dynamodb, name, call)

    return arrange


async def contents(ledger: Any, partition: Partition, objects: MemoryObjects) -> list[bytes]:
    return [await bytes_of(extent, objects) for extent in await extents_of(ledger, partition)]


@pytest.mark.parametrize("data", [SMALL, LARGE])
@pytest.mark.parametrize("faults", [[LOST], [DROPPED], [DROPPED, LOST], [DROPPED] * 4, [THROTTLED]])
async def test_an_append_without_an_answer_is_stored_once(
    faults: list[str],
    data: bytes,
    journal: HeadJournal,
    flaky: FlakyHeads,
    partition: Partition,
    objects: MemoryObjects,
    dynamodb: Any,
):
    await put(journal, partition, b"before")
    flaky.faults = list(faults)
    result = await put(journal, partition, data)
    assert result.base == 1
    assert await contents(dynamodb, partition, objects) == [b"before", data]
    # What starts again is put again: its first object may be swept by now.
    assert objects.calls["put"] == (data is LARGE) * (1 + faults.count(DROPPED))


async def test_an_update_whose_answer_is_lost_is_not_sent_again_but_fenced_and_found(
    journal: HeadJournal, flaky: FlakyHeads, partition: Partition
):
    await journal.next_offset(partition)
    flaky.faults, flaky.asked = [LOST], []
    await put(journal, partition)
    assert flaky.asked == ["update_head", "count_sweep"]


async def test_an_update_that_is_fenced_and_nowhere_starts_again_under_another_id(
    journal: HeadJournal, flaky: FlakyHeads, partition: Partition
):
    await journal.next_offset(partition)
    flaky.faults, flaky.asked = [DROPPED], []
    await put(journal, partition)
    assert flaky.asked == ["update_head", "count_sweep", "extents", "update_head"]
    first, second = flaky.updates
    assert first.entry.id != second.entry.id
    assert (first.sweeps, second.sweeps) == (0, 1)


@pytest.mark.parametrize("data", [SMALL, LARGE])
async def test_a_lost_commit_that_was_settled_meanwhile_is_found_in_the_index(
    data: bytes,
    journal: HeadJournal,
    flaky: FlakyHeads,
    partition: Partition,
    objects: MemoryObjects,
    dynamodb: Any,
    before: Before,
):
    other = a_journal(dynamodb)
    await journal.next_offset(partition)
    for _ in range(120):  # more than a page of the index
        await put(other, partition, b"b")
    flaky.faults = [LOST]
    before("count_sweep", lambda: a_journal(dynamodb).settle(partition))
    result = await put(journal, partition, data, [a_claim(1)])
    assert result.base == 120
    assert (await dynamodb.head(partition)).tail == ()
    assert (await contents(dynamodb, partition, objects))[120:] == [data]
    await other.close()


@pytest.mark.parametrize("claims", [[], [a_claim(1)]])
async def test_a_lost_commit_that_was_merged_meanwhile_is_not_stored_again(
    claims: list[Claim],
    journal: HeadJournal,
    flaky: FlakyHeads,
    partition: Partition,
    dynamodb: Any,
    before: Before,
):
    """What is merged has no id any more: only a client can decide to send it again."""
    await put(journal, partition, b"before")
    await journal.drain()

    async def merge() -> None:
        await a_journal(dynamodb).settle(partition)
        old = await dynamodb.extents(partition, 0, 10)
        whole = join_extents(old, "segment")
        await dynamodb.announce(
            partition, PendingDeletion("segment", 0, 2, ("segment",), 1, announced=True)
        )
        assert await dynamodb.replace_extents(partition, old, [whole])

    flaky.faults = [LOST]
    before("count_sweep", merge)
    with pytest.raises(Unavailable) as raised:
        await put(journal, partition, SMALL, claims)
    assert not isinstance(raised.value, NotDone)
    assert (await dynamodb.head(partition)).next_offset == 2
    assert flaky.asked.count("update_head") == 2


WHEN = ["before the fence", "after the fence", "after the next commit", "after settling"]


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("claims", [[], [a_claim(1)]])
@pytest.mark.parametrize("data", [SMALL, LARGE])
async def test_an_append_whose_update_arrives_late_is_stored_once(
    data: bytes,
    claims: Sequence[Claim],
    when: str,
    journal: HeadJournal,
    flaky: FlakyHeads,
    partition: Partition,
    objects: MemoryObjects,
    dynamodb: Any,
    before: Before,
):
    arrived: list[bool] = []

    async def arrive() -> None:
        arrived.extend(await flaky.arrive())

    flaky.faults = [LIMBO]
    if when in WHEN[:2]:
        before("count_sweep" if when == WHEN[0] else "extents", arrive)
    assert (await put(journal, partition, data, claims)).base == 0
    if when == WHEN[3]:
        await journal.settle(partition)
    await arrive()
    assert arrived == [when == WHEN[0]]
    assert await contents(dynamodb, partition, objects) == [data]


async def test_an_update_that_is_on_its_way_hides_nothing_of_others(
    flaky: FlakyHeads, partition: Partition, dynamodb: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(samsa.aws.commit, "TRIES", 1)  # a writer that dies
    flaky.faults = [LIMBO]
    with pytest.raises(Unavailable):
        await put(a_journal(flaky), partition, b"late")
    assert (await put(a_journal(dynamodb), partition, b"other")).base == 0
    assert [one.data for one in await extents_of(dynamodb, partition)] == [b"other"]
    assert await flaky.arrive() == [True]
    assert [one.data for one in await extents_of(dynamodb, partition)] == [b"other", b"late"]


async def test_an_outcome_that_stays_unknown_is_unavailable_and_not_certain(
    journal: HeadJournal, flaky: FlakyHeads, partition: Partition, dynamodb: Any
):
    flaky.faults = [LIMBO] * 99
    with pytest.raises(Unavailable) as raised:
        await put(journal, partition)
    assert not isinstance(raised.value, NotDone)
    assert len({update.entry.id for update in flaky.updates}) == len(flaky.updates) == TRIES
    # All but the last are fenced.
    assert await flaky.arrive() == [False] * (TRIES - 1) + [True]


@pytest.mark.parametrize("name", ["count_sweep", "extents"])
async def test_nothing_is_sent_again_while_the_outcome_cannot_be_found_out(
    name: str,
    journal: HeadJournal,
    flaky: FlakyHeads,
    partition: Partition,
    dynamodb: Any,
    monkeypatch: pytest.MonkeyPatch,
):
    async def unavailable(*_: Any) -> Any:
        raise Unavailable("no answer")

    await journal.next_offset(partition)
    flaky.faults, flaky.asked = [DROPPED], []
    monkeypatch.setattr(dynamodb, name, unavailable)
    with pytest.raises(Unavailable) as raised:
        await put(journal, partition)
    assert not isinstance(raised.value, NotDone)
    assert flaky.asked.count(name) == TRIES - 1
    assert len(flaky.updates) == 1


async def test_a_commit_that_stays_throttled_certainly_did_not_happen(
    journal: HeadJournal, flaky: FlakyHeads, partition: Partition, dynamodb: Any
):
    flaky.faults = [THROTTLED] * 99
    with pytest.raises(NotDone):
        await put(journal, partition)
    assert (await dynamodb.head(partition)).next_offset == 0


async def test_a_commit_that_was_fenced_and_then_stays_throttled_certainly_did_not_happen(
    journal: HeadJournal, flaky: FlakyHeads, partition: Partition, dynamodb: Any
):
    flaky.faults = [LIMBO] + [THROTTLED] * 99
    with pytest.raises(NotDone):
        await put(journal, partition)
    assert await flaky.arrive() == [False]
    assert (await dynamodb.head(partition)).next_offset == 0


async def test_a_claim_that_was_lost_while_the_outcome_was_unknown_is_reported(
    journal: HeadJournal, flaky: FlakyHeads, partition: Partition, dynamodb: Any, before: Before
):
    await put(journal, partition, claims=[a_claim(1)])
    flaky.faults = [DROPPED]
    theirs = a_claim(1, b"theirs", 1)
    before("count_sweep", lambda: put(a_journal(dynamodb), partition, claims=[theirs]))
    result = await put(journal, partition, claims=[a_claim(1, b"ours", 1)])
    assert (result.base, result.lost) == (None, (1,))
    assert await journal.producer(partition, 1) == Bound(2, b"theirs", 1)


@pytest.mark.parametrize("faults", [[], [DROPPED]])
@pytest.mark.parametrize("size", [200, 5_000])
async def test_an_entry_that_has_the_same_id_by_chance_is_not_taken_for_the_own(
    size: int,
    faults: list[str],
    flaky: FlakyHeads,
    partition: Partition,
    objects: MemoryObjects,
    dynamodb: Any,
):
    datas = [b"a" * size, b"b" * size]
    first, second = (
        HeadJournal(flaky, objects, iter(words).__next__, SetClock())
        for words in (["same"], ["same", "x", "y"])
    )
    for journal in (first, second):
        await journal.next_offset(partition)
    assert (await put(first, partition, datas[0])).base == 0
    flaky.faults = list(faults)
    assert (await put(second, partition, datas[1])).base == 1
    assert await contents(dynamodb, partition, objects) == datas


async def test_an_entry_of_another_object_that_has_the_same_id_is_not_taken_for_the_own(
    flaky: FlakyHeads, objects: MemoryObjects, dynamodb: Any
):
    """Two appends that share an object, of which one has the same id as an entry that is there."""
    ours, theirs = await a_partition(dynamodb), await a_partition(dynamodb, "others")
    words = iter(["same", "other", "window", "x", "y"])
    journal = HeadJournal(flaky, objects, words.__next__, SetClock())
    for partition in (ours, theirs):
        await journal.next_offset(partition)
    before = HeadJournal(dynamodb, objects, iter(["same"]).__next__, SetClock())
    await put(before, ours, b"a" * 5_000)
    flaky.faults = [DROPPED]
    await asyncio.gather(put(journal, ours, LARGE), put(journal, theirs, LARGE))
    assert await contents(dynamodb, ours, objects) == [b"a" * 5_000, LARGE]


# Transactions


def opening(after: int = 0) -> Claim:
    return a_claim(7, b"data", after)._replace(opens=0)


def ending(after: int, end: End = End.ABORT) -> Claim:
    return a_claim(7, b"ended", after)._replace(ends=end)


@pytest.mark.parametrize("faults", [[LOST], [DROPPED], [DROPPED, LOST], [THROTTLED]])
@pytest.mark.parametrize("is_settled", [False, True])
async def test_a_marker_without_an_answer_ends_its_transaction_once(
    is_settled: bool,
    faults: list[str],
    journal: HeadJournal,
    flaky: FlakyHeads,
    partition: Partition,
    dynamodb: Any,
    before: Before,
):
    await put(journal, partition, claims=[opening()])
    if is_settled and THROTTLED not in faults:
        before("count_sweep", lambda: a_journal(dynamodb).settle(partition))
    flaky.faults = list(faults)
    result = await put(journal, partition, claims=[ending(1)])
    assert result.base == 1
    await journal.settle(partition)
    head = await dynamodb.head(partition)
    assert (head.next_offset, head.open_transactions, head.aborted_to) == (2, {}, 2)
    assert [one[:3] for one in await dynamodb.aborted(partition, 0, 9)] == [(1, 7, 0)]


async def test_a_batch_that_arrives_after_the_marker_opens_nothing(
    journal: HeadJournal,
    flaky: FlakyHeads,
    partition: Partition,
    dynamodb: Any,
    monkeypatch: pytest.MonkeyPatch,
):
    """It was sent first, and its writer has given up."""
    await put(journal, partition, claims=[opening()])
    await journal.drain()
    monkeypatch.setattr(samsa.aws.commit, "TRIES", 1)
    flaky.faults = [LIMBO]
    with pytest.raises(Unavailable):
        await put(journal, partition, claims=[opening(1)])
    assert (await put(a_journal(dynamodb), partition, claims=[ending(1)])).base == 1
    assert await flaky.arrive() == [False]
    head = await dynamodb.head(partition)
    assert (head.next_offset, head.open_transactions) == (2, {})


@pytest.mark.parametrize("late", End)
async def test_a_marker_that_arrives_late_ends_no_later_transaction(
    late: End,
    journal: HeadJournal,
    flaky: FlakyHeads,
    partition: Partition,
    dynamodb: Any,
    monkeypatch: pytest.MonkeyPatch,
):
    await put(journal, partition, claims=[opening()])
    await journal.drain()
    monkeypatch.setattr(samsa.aws.commit, "TRIES", 1)
    flaky.faults = [LIMBO]
    with pytest.raises(Unavailable):
        await put(journal, partition, claims=[ending(1, late)])
    other = a_journal(dynamodb)
    assert (await put(other, partition, claims=[ending(1, End.COMMIT)])).base == 1
    assert (await put(other, partition, claims=[opening(2)])).base == 2
    await other.drain()
    assert await flaky.arrive() == [False]
    head = await dynamodb.head(partition)
    assert (head.open_transactions, head.aborted, head.aborted_to) == ({7: 2}, (), 0)


async def test_what_a_stale_head_shows_of_transactions_is_not_believed(
    journal: HeadJournal, partition: Partition, dynamodb: Any
):
    """Each of two journals knows the head as it was before the other's last commit."""
    other = a_journal(dynamodb)
    await put(journal, partition, claims=[opening()])
    await other.producer(partition, 7)
    assert (await put(other, partition, claims=[ending(1)])).base == 1
    assert (await put(journal, partition, claims=[opening(2)])).lost == (7,)
    await journal.producer(partition, 7)
    assert (await put(journal, partition, claims=[opening(2)])).base == 2
    assert (await put(other, partition, claims=[opening(3)])).lost == (7,)
    await other.producer(partition, 7)
    head = (await put(other, partition, claims=[opening(3)])).head
    assert (head.next_offset, head.open_transactions) == (4, {7: 2})
    await other.settle(partition)
    assert [one[:3] for one in await dynamodb.aborted(partition, 0, 9)] == [(1, 7, 0)]


async def test_stable_is_no_later_than_what_another_process_has_opened_meanwhile(
    journal: HeadJournal, partition: Partition, dynamodb: Any
):
    """Its writer has not seen that transaction."""
    other = a_journal(dynamodb)
    await put(journal, partition, claims=[opening()])
    await put(other, partition, claims=[a_claim(8)._replace(opens=0)])
    head = (await put(journal, partition, claims=[ending(1)])).head
    assert [one[:3] for one in head.aborted] == [(2, 7, 0)]
    assert head.open_transactions == {8: 1}
    assert head.aborted[0].stable <= 1
    for each in (journal, other):
        await each.drain()


# Objects and sweeps


class SweptWhilePutting(MemoryObjects):
    """A sweep is counted between a put and its commit, so many times; what was put is deleted."""

    def __init__(self, dynamodb: Any, partition: Partition, times: int) -> None:
        super().__init__()
        self._sweep = dynamodb, partition
        self._times = times

    async def put_if_absent(self, key: str, parts: Any) -> bool:
        stored = await super().put_if_absent(key, parts)
        if self._times:
            self._times -= 1
            dynamodb, partition = self._sweep
            await dynamodb.count_sweep(partition)
            await self.delete([key])
        return stored


async def test_what_was_swept_before_its_commit_is_put_again(partition: Partition, dynamodb: Any):
    objects = SweptWhilePutting(dynamodb, partition, 2)
    journal = a_journal(dynamodb, objects)
    assert (await put(journal, partition, LARGE)).base == 0
    assert objects.calls["put"] == 3
    assert await contents(dynamodb, partition, objects) == [LARGE]


async def test_a_lost_commit_that_was_swept_after_is_not_put_again(
    journal: HeadJournal,
    flaky: FlakyHeads,
    partition: Partition,
    objects: MemoryObjects,
    dynamodb: Any,
    before: Before,
):
    flaky.faults = [LOST]
    before("count_sweep", lambda: dynamodb.count_sweep(partition))
    assert (await put(journal, partition, LARGE)).base == 0
    assert objects.calls["put"] == len(flaky.updates) == 1


async def test_a_commit_in_limbo_never_shows_an_object_once_a_sweep_is_counted(
    journal: HeadJournal, flaky: FlakyHeads, partition: Partition, dynamodb: Any
):
    flaky.faults = [LIMBO] * TRIES
    with pytest.raises(Unavailable):
        await put(journal, partition, LARGE)
    await journal.count_sweep(partition)
    assert await flaky.arrive() == [False] * TRIES
    assert (await dynamodb.head(partition)).next_offset == 0


async def test_a_sweep_that_was_counted_since_costs_a_small_append_one_update_more(
    journal: HeadJournal, flaky: FlakyHeads, partition: Partition, dynamodb: Any
):
    await journal.next_offset(partition)
    await dynamodb.count_sweep(partition)
    assert (await put(journal, partition, SMALL)).base == 0
    assert [update.sweeps for update in flaky.updates] == [0, 1]
    assert [one.data for one in await extents_of(dynamodb, partition)] == [SMALL]
    await put(journal, partition, SMALL)
    assert len(flaky.updates) == 3


class Full(MemoryObjects):
    def __init__(self, failures: int) -> None:
        super().__init__()
        self.failures = failures

    async def put_if_absent(self, key: str, parts: list[Buffer]) -> bool:  # type: ignore[override]
        self.failures -= 1
        if self.failures >= 0:
            raise Unavailable("S3: SlowDown")
        return await super().put_if_absent(key, parts)


async def test_a_put_that_fails_is_tried_again(partition: Partition, dynamodb: Any):
    journal = a_journal(dynamodb, Full(2))
    assert (await put(journal, partition, LARGE)).base == 0


async def test_an_append_whose_object_cannot_be_put_certainly_did_not_happen(
    partition: Partition, dynamodb: Any
):
    journal = a_journal(dynamodb, Full(99))
    with pytest.raises(NotDone, match="SlowDown"):
        await put(journal, partition, LARGE)
