"""What every journal promises in `ports`: an append is one commit."""

import pytest
from functional.given import DAY_MS, a_partition, a_topic, an_extent, an_unknown_partition
from functional.journals import Place, a_claim, bytes_of, extents_of, put

from samsa.ports import Bound, Partition, UnknownPartition

SMALL, LARGE = b"s" * 200, b"L" * 5_000


async def test_appends_follow_one_another(place: Place):
    partition = await a_partition(place.ledger)
    first = await put(place.journal, partition, SMALL, offsets=10)
    second = await put(place.journal, partition, LARGE, offsets=5)
    assert (first.base, second.base) == (0, 10)
    assert (first.lost, second.lost) == ((), ())
    assert second.head.next_offset == 15 == (await place.ledger.head(partition)).next_offset


@pytest.mark.parametrize("data", [SMALL, LARGE])
async def test_what_was_appended_is_read_as_it_was(place: Place, data: bytes):
    partition = await a_partition(place.ledger)
    await put(place.journal, partition, b"before")
    await place.journal.settle(partition)  # or notes of both become one extent
    await put(place.journal, partition, data, offsets=7)
    _, found = await extents_of(place.ledger, partition)
    assert await bytes_of(found, place.objects) == data
    assert (found.offsets, found.size, found.shift, found.records) == (7, len(data), 0, 7)
    assert (found.max_timestamp, found.stored_at) == (7, 1_700_000_000_000)


async def test_marks_and_their_times_are_kept(place: Place):
    partition = await a_partition(place.ledger)
    marks, times = ((3, 40_000), (90, 80_000)), (5, 2**40)
    extent = an_extent(0, 100, size=len(LARGE), key="", marks=marks, times=times)
    await place.journal.commit(partition, extent, [LARGE[:20], LARGE[20:]], [])
    (found,) = await extents_of(place.ledger, partition)
    assert (found.marks, found.times) == (marks, times)


async def test_a_wrong_guess_is_shifted_and_never_refused(place: Place):
    partition = await a_partition(place.ledger)
    assert await place.other.next_offset(partition) == 0
    await put(place.journal, partition, offsets=10)
    late = an_extent(0, 3, size=len(LARGE), key="")
    result = await place.other.commit(partition, late, [LARGE], [])
    assert result.base == 10
    first, second = await extents_of(place.ledger, partition)
    assert (first.shift, second.shift) == (0, 10)


async def test_the_guess_is_right_for_who_appended_last_and_never_too_high(place: Place):
    partition = await a_partition(place.ledger)
    for journal in (place.journal, place.other, place.journal):
        guess = await journal.next_offset(partition)
        result = await put(journal, partition, offsets=3)
        assert guess <= result.base
        assert await journal.next_offset(partition) == result.base + 3


async def test_partitions_are_appended_to_apart(place: Place):
    topic = a_topic(partitions=2)
    await place.ledger.create_topic(topic)
    here, there = (Partition(topic.id, number) for number in range(2))
    await put(place.journal, here, claims=[a_claim(1)])
    assert (await put(place.journal, there, claims=[a_claim(1)])).base == 0
    assert (await place.journal.producer(here, 1)) == Bound(1, b"state", 0)


async def test_a_partition_that_is_not_there_is_named_as_such(place: Place):
    partition = an_unknown_partition()
    with pytest.raises(UnknownPartition):
        await place.journal.commit(partition, an_extent(0, size=200, key=""), [SMALL], [])
    with pytest.raises(UnknownPartition):
        await place.journal.settle(partition)
    assert await place.ledger.extents(partition, 0, 9) == []


async def test_a_partition_that_was_deleted_takes_no_more(place: Place):
    topic = a_topic()
    await place.ledger.create_topic(topic)
    partition = Partition(topic.id, 0)
    await put(place.journal, partition)
    await place.ledger.delete_topic(topic)
    await place.ledger.forget_topic(topic)
    with pytest.raises(UnknownPartition):
        await put(place.journal, partition)


# Claims


async def test_a_producer_is_unknown_before_its_first_claim(place: Place):
    assert await place.journal.producer(await a_partition(place.ledger), 4000) is None


async def test_a_claim_must_follow_the_version_that_is_there(place: Place):
    partition = await a_partition(place.ledger)
    assert (await put(place.journal, partition, claims=[a_claim(7, b"one")])).base == 0
    for after in (0, 2, 3):
        lost = await put(place.other, partition, claims=[a_claim(7, b"another", after)])
        assert (lost.base, lost.lost) == (None, (7,))
        assert lost.head.next_offset == 1
    assert (await put(place.journal, partition, claims=[a_claim(7, b"two", 1)])).base == 1
    for journal in (place.journal, place.other):
        assert await journal.producer(partition, 7) == Bound(2, b"two", 1)


async def test_a_claim_after_a_version_needs_a_producer(place: Place):
    partition = await a_partition(place.ledger)
    assert (await put(place.journal, partition, claims=[a_claim(7, after=1)])).lost == (7,)
    assert await place.journal.producer(partition, 7) is None


async def test_one_lost_claim_stores_nothing_of_the_commit(place: Place):
    partition = await a_partition(place.ledger)
    await put(place.journal, partition, claims=[a_claim(1), a_claim(2)])
    await put(place.other, partition, claims=[a_claim(2, b"moved on", 1)])
    claims = [a_claim(1, b"next", 1), a_claim(2, b"next", 1), a_claim(3)]
    result = await put(place.journal, partition, LARGE, claims)
    assert (result.base, result.lost) == (None, (2,))
    assert (await place.ledger.head(partition)).next_offset == 2
    assert await place.journal.producer(partition, 1) == Bound(1, b"state", 0)
    assert await place.journal.producer(partition, 3) is None


async def test_a_claim_that_was_made_elsewhere_since_is_lost(place: Place):
    partition = await a_partition(place.ledger)
    await put(place.journal, partition, claims=[a_claim(1)])
    await put(place.other, partition, claims=[a_claim(1, b"theirs", 1)])
    assert (await put(place.journal, partition, claims=[a_claim(1, b"ours", 1)])).lost == (1,)
    assert await place.journal.producer(partition, 1) == Bound(2, b"theirs", 1)


async def test_a_producers_base_is_that_of_the_commit_and_not_the_guess(place: Place):
    partition = await a_partition(place.ledger)
    await place.other.next_offset(partition)
    await put(place.journal, partition, offsets=10)
    late = an_extent(0, 3, size=len(SMALL), key="")
    await place.other.commit(partition, late, [SMALL], [a_claim(1)])
    assert await place.journal.producer(partition, 1) == Bound(1, b"state", 10)
    assert await place.ledger.producers(partition, 0) == {1: Bound(1, b"state", 10)}


# What is between head and index


async def test_settling_changes_nothing_that_readers_see(place: Place):
    partition = await a_partition(place.ledger)
    for number in range(40):
        await put((place.journal, place.other)[number % 2], partition, SMALL)
    await place.journal.drain()
    before = await extents_of(place.ledger, partition)
    for journal in (place.journal, place.other):
        await journal.settle(partition)
    assert await extents_of(place.ledger, partition) == before
    assert (await place.ledger.head(partition)).tail == ()
    assert len(await place.ledger.extents(partition, 0, 99)) == 40


async def test_an_append_after_a_sweep_was_counted_is_still_read(place: Place):
    partition = await a_partition(place.ledger)
    await put(place.journal, partition, LARGE)
    for _ in range(2):
        await place.other.count_sweep(partition)
        await put(place.journal, partition, LARGE)
    extents = await extents_of(place.ledger, partition)
    assert b"".join([await bytes_of(one, place.objects) for one in extents]) == 3 * LARGE


async def test_a_commit_shows_who_watches(place: Place):
    partition = await a_partition(place.ledger)
    await place.ledger.watch(partition, "ws://a.b/c?d", DAY_MS)
    assert (await put(place.journal, partition)).head.watchers == {"ws://a.b/c?d": DAY_MS}


async def test_who_watches_sees_the_tail_of_the_head(place: Place):
    partition = await a_partition(place.ledger)
    await put(place.journal, partition)
    watching = await place.ledger.watch(partition, "me", DAY_MS)
    assert watching.next_offset == 1
    assert watching.tail == (await place.ledger.head(partition)).tail


async def test_commits_are_counted(place: Place):
    partition = await a_partition(place.ledger)
    await put(place.journal, partition)
    await put(place.journal, partition)
    assert place.journal.calls["commit"] == 2
    assert place.journal.calls["again"] == 0
