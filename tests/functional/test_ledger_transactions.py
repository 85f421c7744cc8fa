"""Transactions of a partition, open and aborted: what every ledger promises with its journals."""

from collections import defaultdict
from collections.abc import Sequence
from random import Random

import pytest
from functional.given import DAY_MS, a_partition, a_topic, an_extent
from functional.journals import A_TIME, A_WEEK, Place, put

from samsa.ports import Aborted, Bound, Claim, CommitResult, End, Head, Journal, NotDone, Partition

LATER = A_TIME + A_WEEK + 1


class Producing:
    """Producers of one partition, who know the versions of their states."""

    def __init__(self, place: Place, partition: Partition) -> None:
        self.place = place
        self.partition = partition
        self.versions: dict[int, int] = defaultdict(int)

    def claim(self, producer_id: int, opens: int = -1, ends: End | None = None) -> Claim:
        after = self.versions[producer_id]
        return Claim(producer_id, b"state", after, A_TIME + A_WEEK, opens, ends)

    async def put(
        self, *claims: Claim, offsets: int = 1, journal: Journal | None = None
    ) -> CommitResult:
        journal = journal or self.place.journal
        return await put(journal, self.partition, claims=claims, offsets=offsets)

    async def stored(self, *claims: Claim, offsets: int = 1, journal: Journal | None = None) -> int:
        """Where it was appended."""
        base = (await self.put(*claims, offsets=offsets, journal=journal)).base
        assert base is not None
        for claim in claims:
            self.versions[claim.producer_id] += 1
        return base

    async def write(self, producer_id: int, offsets: int = 1) -> int:
        return await self.stored(self.claim(producer_id, opens=0), offsets=offsets)

    async def abort(self, producer_id: int) -> int:
        return await self.stored(self.claim(producer_id, ends=End.ABORT))

    async def commit(self, producer_id: int) -> int:
        return await self.stored(self.claim(producer_id, ends=End.COMMIT))

    async def head(self) -> Head:
        head: Head = await self.place.ledger.head(self.partition)
        return head

    async def open(self) -> dict[int, int]:
        return dict((await self.head()).open_transactions)

    async def aborted(self, offset: int = 0, end: int = 10**9) -> list[Aborted]:
        """As a reader finds them: those in the head, then those that the ledger lists."""
        head = await self.head()
        found = set(await self.place.ledger.aborted(self.partition, offset, end))
        found |= {one for one in head.aborted if one.marker >= offset and one.first < end}
        return sorted(found)


@pytest.fixture
async def producing(place: Place) -> Producing:
    return Producing(place, await a_partition(place.ledger))


def bare(aborted: Sequence[Aborted]) -> list[tuple[int, int, int]]:
    return [(one.marker, one.producer_id, one.first) for one in aborted]


async def test_a_new_partition_has_no_transactions(producing: Producing):
    head = await producing.head()
    assert (head.open_transactions, head.aborted_to, head.aborted) == ({}, 0, ())
    assert await producing.aborted() == []


@pytest.mark.parametrize("end", End)
async def test_a_transaction_is_open_from_its_first_batch_to_its_marker(
    producing: Producing, end: End
):
    await producing.put(offsets=5)
    opening = await producing.put(producing.claim(7, opens=2), offsets=4)
    producing.versions[7] += 1
    await producing.write(7, offsets=3)
    for head in (opening.head, await producing.head()):
        assert head.open_transactions == {7: 7}
        assert head.stable_end == 7
    ending = await producing.put(producing.claim(7, ends=end))
    for head in (ending.head, await producing.head()):
        assert head.open_transactions == {}
        assert head.stable_end == head.next_offset == 13


async def test_an_append_without_transactional_batches_leaves_the_transaction_open(
    producing: Producing,
):
    await producing.write(7)
    await producing.stored(producing.claim(7))
    await producing.stored(producing.claim(8))
    await producing.stored()
    assert await producing.open() == {7: 0}


async def test_the_stable_end_is_where_the_oldest_open_transaction_begins(producing: Producing):
    await producing.write(7)
    await producing.write(8)
    assert (await producing.head()).stable_end == 0
    await producing.commit(7)
    assert (await producing.head()).stable_end == 1
    await producing.commit(8)
    assert (await producing.head()).stable_end == 4


async def test_each_producer_of_a_commit_opens_at_its_own_first_batch(producing: Producing):
    await producing.put()
    claims = [producing.claim(7, opens=0), producing.claim(8), producing.claim(9, opens=6)]
    await producing.stored(*claims, offsets=10)
    assert await producing.open() == {7: 1, 9: 7}


async def test_a_commit_that_loses_a_claim_opens_nothing(producing: Producing):
    await producing.stored(producing.claim(8))
    claims = [producing.claim(7, opens=0), producing.claim(8, opens=1)._replace(after=0)]
    refused = await producing.put(*claims, offsets=2)
    assert refused.lost == (8,)
    assert refused.head.open_transactions == {}
    assert await producing.open() == {}


@pytest.mark.parametrize("end", End)
async def test_what_was_judged_before_the_marker_is_refused_after_it(
    producing: Producing, end: End
):
    await producing.write(7)
    late = producing.claim(7, opens=0)
    await producing.stored(producing.claim(7, ends=end), journal=producing.place.other)
    assert (await producing.put(late)).lost == (7,)
    assert await producing.open() == {}
    assert (await producing.head()).next_offset == 2


async def test_a_marker_that_loses_its_claim_ends_nothing(producing: Producing):
    await producing.write(7)
    for after in (0, 2):
        marker = producing.claim(7, ends=End.ABORT)._replace(after=after)
        refused = await producing.put(marker)
        assert refused.lost == (7,)
        assert refused.head.open_transactions == {7: 0}
    assert await producing.open() == {7: 0}
    assert await producing.aborted() == []


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("end", End)
async def test_a_marker_without_a_transaction_only_moves_the_producers_state(
    producing: Producing, end: End, is_known: bool
):
    if is_known:
        await producing.stored(producing.claim(7))
    base = await producing.stored(producing.claim(7, ends=end))
    assert await producing.place.journal.producer(producing.partition, 7) == Bound(
        1 + is_known, b"state", base
    )
    head = await producing.head()
    assert (head.open_transactions, head.aborted_to, head.next_offset) == ({}, 0, base + 1)
    assert await producing.aborted() == []


async def test_an_aborted_transaction_is_listed_and_a_committed_one_is_not(producing: Producing):
    await producing.write(7)
    await producing.commit(7)
    assert (await producing.head()).aborted_to == 0
    await producing.write(7, offsets=3)
    await producing.abort(7)
    assert (await producing.head()).aborted_to == 6
    again = await producing.put(producing.claim(7, opens=0))
    producing.versions[7] += 1
    ending = await producing.put(producing.claim(7, ends=End.COMMIT))
    for head in (again.head, ending.head, await producing.head()):
        assert head.aborted_to == 6
    assert bare(await producing.aborted()) == [(5, 7, 2)]


async def test_a_producers_next_transaction_begins_anew(producing: Producing):
    for number in range(4):
        assert await producing.write(7) == 2 * number
        assert await producing.open() == {7: 2 * number}
        await producing.abort(7)
    assert bare(await producing.aborted()) == [(1, 7, 0), (3, 7, 2), (5, 7, 4), (7, 7, 6)]


async def test_the_end_of_one_transaction_leaves_the_others_open(producing: Producing):
    for producer_id in (7, 8, 9):
        await producing.write(producer_id)
    await producing.abort(8)
    assert await producing.open() == {7: 0, 9: 2}
    assert bare(await producing.aborted()) == [(3, 8, 1)]


async def test_transactions_of_partitions_are_apart(place: Place):
    topic = a_topic(partitions=2)
    await place.ledger.create_topic(topic)
    here, there = (Producing(place, Partition(topic.id, number)) for number in range(2))
    await there.stored()
    await here.write(7)
    await there.write(7)
    await here.abort(7)
    assert await there.open() == {7: 1}
    assert (await there.head()).aborted_to == 0
    assert await there.aborted() == []
    await there.abort(7)
    assert bare(await here.aborted()) == [(1, 7, 0)]
    assert bare(await there.aborted()) == [(2, 7, 1)]


async def test_stable_is_no_later_than_the_first_offset_of_all_that_end_later(
    producing: Producing,
):
    await producing.write(7)
    await producing.write(8)
    await producing.abort(8)
    await producing.abort(7)
    await producing.write(8)
    await producing.abort(8)
    eight, seven, again = await producing.aborted()
    assert eight == Aborted(2, 8, 1, 0)
    assert (bare([seven]), bare([again])) == ([(3, 7, 0)], [(5, 8, 4)])
    assert 2 < seven.stable <= 4
    assert 4 < again.stable <= 6


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("is_settled", [False, True])
async def test_a_reader_gets_the_aborted_transactions_of_any_range_and_no_others(
    producing: Producing, seed: int, is_settled: bool
):
    random, opened, truth = Random(seed), dict[int, int](), list[tuple[int, int, int]]()
    for _ in range(60):
        producer_id = random.randrange(4)
        if producer_id not in opened or random.random() < 0.4:
            base = await producing.write(producer_id, offsets=random.randint(1, 3))
            opened.setdefault(producer_id, base)
            continue
        first = opened.pop(producer_id)
        if random.random() < 0.7:
            truth.append((await producing.abort(producer_id), producer_id, first))
        else:
            await producing.commit(producer_id)
    if is_settled:
        await producing.place.journal.settle(producing.partition)
    head = await producing.head()
    assert head.open_transactions == opened
    assert head.aborted_to == truth[-1][0] + 1
    for offset in range(0, head.next_offset, 7):
        for end in (offset + 1, offset + 9, head.stable_end, head.next_offset):
            found = bare(await producing.aborted(offset, end))
            assert found == [t for t in truth if t[0] >= offset and t[2] < end]


async def test_settling_changes_neither_what_is_open_nor_what_is_aborted(producing: Producing):
    for producer_id in (7, 8, 9):
        await producing.write(producer_id)
    await producing.abort(8)
    before, aborted = await producing.head(), await producing.aborted()
    for _ in range(2):
        await producing.place.journal.settle(producing.partition)
    head = await producing.head()
    assert head.aborted == ()
    assert head.open_transactions == before.open_transactions == {7: 0, 9: 2}
    assert head.aborted_to == before.aborted_to == 4
    assert await producing.aborted() == aborted
    assert await producing.place.ledger.aborted(producing.partition, 0, 9) == aborted


async def three_aborted(producing: Producing) -> None:
    """With markers at 1, 3 and 5, all in the index."""
    for _ in range(3):
        await producing.write(7)
        await producing.abort(7)
    await producing.place.journal.settle(producing.partition)


async def test_what_compaction_forgets_is_not_listed(producing: Producing):
    await three_aborted(producing)
    for _ in range(2):
        await producing.place.ledger.forget_aborted(producing.partition, [3, 1, 99])
    assert bare(await producing.aborted()) == [(5, 7, 4)]
    await producing.place.ledger.forget_aborted(producing.partition, [])
    assert bare(await producing.aborted()) == [(5, 7, 4)]


@pytest.mark.parametrize(("below", "left"), [(1, [1, 3, 5]), (2, [3, 5]), (3, [3, 5]), (99, [])])
async def test_what_retention_drops_takes_the_transactions_along_that_ended_there(
    producing: Producing, below: int, left: list[int]
):
    await three_aborted(producing)
    await producing.place.ledger.drop_extents(producing.partition, below)
    assert [one.marker for one in await producing.aborted()] == left


async def test_a_transaction_that_began_in_what_retention_drops_stays(producing: Producing):
    await producing.write(7)
    await producing.write(8)
    await producing.stored()
    await producing.abort(8)
    await producing.place.journal.settle(producing.partition)
    await producing.place.ledger.advance_start(producing.partition, 3)
    await producing.place.ledger.drop_extents(producing.partition, 3)
    assert bare(await producing.aborted(3)) == [(3, 8, 1)]
    head = await producing.head()
    assert (head.open_transactions, head.stable_end) == ({7: 0}, 3)


async def test_every_call_that_returns_a_head_tells_of_transactions(producing: Producing):
    await producing.write(8)
    await producing.write(7)
    await producing.abort(8)
    ledger, partition = producing.place.ledger, producing.partition
    watching = await ledger.watch(partition, "someone", DAY_MS)
    plain = (await producing.put()).head
    advanced = await ledger.advance_start(partition, 1)
    for head in (watching, plain, advanced, await ledger.head(partition)):
        assert (head.open_transactions, head.aborted_to) == ({7: 1}, 3)
        assert head.aborted in ((), tuple(await producing.aborted()))


async def test_a_producer_is_not_forgotten_while_its_transaction_is_open(producing: Producing):
    await producing.write(7)
    await producing.write(8)
    await producing.commit(8)
    await producing.place.ledger.forget_producers(LATER)
    assert await producing.open() == {7: 0}
    seven = Bound(1, b"state", 0)
    assert await producing.place.journal.producer(producing.partition, 7) == seven
    assert await producing.place.ledger.producers(producing.partition, LATER) == {7: seven}
    await producing.abort(7)
    assert bare(await producing.aborted()) == [(3, 7, 0)]


async def test_no_more_transactions_open_than_a_head_holds_and_those_that_are_open_go_on(
    producing: Producing, monkeypatch: pytest.MonkeyPatch
):
    for module in ("aws.journal", "local.open_transactions"):
        monkeypatch.setattr(f"samsa.{module}.MOST_OPEN_TRANSACTIONS", 2)
    for producer_id in (7, 8):
        await producing.write(producer_id)
    await producing.stored(producing.claim(9))
    with pytest.raises(NotDone):
        await producing.put(producing.claim(9, opens=0))
    with pytest.raises(NotDone):
        await producing.put(producing.claim(10, opens=0), producing.claim(7, opens=1), offsets=2)
    await producing.write(7)
    await producing.stored(producing.claim(9))
    await producing.abort(8)
    await producing.write(9)
    assert await producing.open() == {7: 0, 9: 6}
    assert (await producing.head()).next_offset == 7


async def test_a_forgotten_topic_leaves_nothing_of_its_transactions(place: Place):
    topic = a_topic()
    await place.ledger.create_topic(topic)
    producing = Producing(place, Partition(topic.id, 0))
    await three_aborted(producing)
    await producing.write(8)
    await place.ledger.delete_topic(topic)
    await place.ledger.forget_topic(topic)
    assert await place.ledger.aborted(producing.partition, 0, 99) == []


async def test_the_transaction_opens_where_the_commit_is_and_not_where_it_was_guessed(
    producing: Producing,
):
    await producing.put(offsets=10)
    late = an_extent(0, 3, size=100, key="")
    claim = producing.claim(7, opens=1)
    done = await producing.place.other.commit(producing.partition, late, [b"d" * 100], [claim])
    assert done.base == 10
    assert await producing.open() == {7: 11}
