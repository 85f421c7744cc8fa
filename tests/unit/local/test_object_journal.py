"""A SQLite ledger whose objects are elsewhere: no object that was swept comes into the log."""

import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from uuid import UUID

import pytest

from samsa.local.memory import MemoryObjects
from samsa.local.object_journal import ObjectJournal
from samsa.local.sqlite import SqliteLedger
from samsa.ports import Bound, Buffer, Claim, CommitResult, Extent, Partition, Topic
from samsa.ports import UnknownPartition as Unknown

PARTITION = Partition(UUID(int=1), 0)
TOPIC = Topic("letters", PARTITION.topic_id, 1, 0)


class Watched(MemoryObjects):
    """Runs something after a put, once."""

    then: Callable[[str], object] | None = None

    async def put_if_absent(self, key: str, parts: Sequence[Buffer]) -> bool:
        done = await super().put_if_absent(key, parts)
        then, self.then = self.then, None
        if then is not None:
            await then(key)  # type: ignore[misc]
        return done


class Given:
    def __init__(self) -> None:
        self.ledger = SqliteLedger(":memory:")
        self.objects = Watched()
        numbers = itertools.count()
        self.journal = ObjectJournal(self.ledger, self.objects, lambda: f"w{next(numbers)}")

    async def append(self, guess: int, data: bytes, *claims: Claim) -> CommitResult:
        extent = Extent(guess, 1, len(data), 7, 8, "", (), 1)
        return await self.journal.commit(PARTITION, extent, [data], claims)

    async def stored(self) -> list[bytes]:
        found = await self.ledger.extents(PARTITION, 0, 100)
        return [bytes(await self.objects.get(e.key, e.start, e.size)) for e in found]


@pytest.fixture
async def given() -> AsyncIterator[Given]:
    given = Given()
    await given.ledger.create_topic(TOPIC)
    yield given
    await given.journal.close()
    await given.ledger.close()


async def test_each_append_is_an_object_of_its_partition(given: Given):
    for base in range(2):
        assert (await given.append(base, b"%d" % base)).base == base
    assert [key async for key in given.objects.list("")] == [
        f"log/{PARTITION.topic_id}/0/w{number}" for number in range(2)
    ]
    assert await given.stored() == [b"0", b"1"]


async def test_a_stale_guess_is_shifted(given: Given):
    for base in range(3):
        assert (await given.append(0, b"%d" % base)).base == base
    found = await given.ledger.extents(PARTITION, 0, 9)
    assert [extent.shift for extent in found] == [0, 1, 2]


async def test_an_object_that_was_swept_before_its_commit_is_put_again(given: Given):
    """As the log sweeps: it lists, counts, looks for references, and deletes."""

    async def sweep(key: str) -> None:
        await given.journal.count_sweep(PARTITION)
        assert await given.ledger.extents(PARTITION, 0, 9) == []
        await given.objects.delete([key])

    given.objects.then = sweep
    assert (await given.append(0, b"kept")).base == 0
    assert await given.stored() == [b"kept"]


async def test_a_sweep_that_was_counted_before_the_put_costs_nothing(given: Given):
    await given.journal.count_sweep(PARTITION)
    await given.append(0, b"0")
    assert given.objects.calls["put"] == 1


async def test_a_sweep_of_another_partition_costs_nothing(given: Given):
    other = Topic("other", UUID(int=2), 1, 0)
    await given.ledger.create_topic(other)

    async def sweep(_: str) -> None:
        await given.journal.count_sweep(Partition(other.id, 0))

    given.objects.then = sweep
    await given.append(0, b"0")
    assert given.objects.calls["put"] == 1


async def test_a_lost_claim_stores_nothing(given: Given):
    assert (await given.append(0, b"0", Claim(7, b"one", 0, 99))).base == 0
    done = await given.append(1, b"1", Claim(7, b"late", 0, 99))
    assert (done.base, done.lost, done.head.next_offset) == (None, (7,), 1)
    assert await given.stored() == [b"0"]
    assert await given.journal.producer(PARTITION, 7) == Bound(1, b"one", 0)


async def test_nothing_is_put_for_a_partition_that_is_gone(given: Given):
    await given.ledger.delete_topic(TOPIC)
    await given.ledger.forget_topic(TOPIC)
    with pytest.raises(Unknown):
        await given.append(0, b"0")
    assert given.objects.calls["put"] == 0


async def test_a_partition_that_went_after_the_put_is_missed(given: Given):
    async def forget(_: str) -> None:
        await given.ledger.delete_topic(TOPIC)
        await given.ledger.forget_topic(TOPIC)

    given.objects.then = forget
    with pytest.raises(Unknown):
        await given.append(0, b"0")
