import asyncio

import pytest
from unit.log.given import PARTITION, a_batch, a_log, sequenced

from samsa.log.admit import Outcome, Refusal
from samsa.log.layout import Batch
from samsa.log.stores import Limits
from samsa.log.writer import PartitionWriter
from samsa.ports import Partition, Unavailable


class GatedAppender:
    """Writes what it is given down, and answers when it is let through."""

    is_remote = False

    def __init__(self) -> None:
        self.groups: list[list[Batch]] = []
        self.gate = asyncio.Event()
        self.error: Exception | None = None

    async def append(self, partition: Partition, batches: list[Batch]) -> list[Outcome]:
        self.groups.append(batches)
        first = sum(len(group) for group in self.groups[:-1])
        await self.gate.wait()
        if self.error:
            raise self.error
        return [Outcome(first + number, 0) for number in range(len(batches))]


def a_writer(**limits: int) -> tuple[PartitionWriter, GatedAppender]:
    appender = GatedAppender()
    return PartitionWriter(PARTITION, appender, Limits(**limits)), appender


async def test_what_arrives_during_a_commit_shares_the_next_one():
    writer, appender = a_writer()
    first = writer.submit(a_batch())
    await asyncio.sleep(0)
    others = [writer.submit(a_batch()) for _ in range(5)]
    appender.gate.set()
    assert [(await future).offset for future in (first, *others)] == list(range(6))
    assert [len(group) for group in appender.groups] == [1, 5]


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def pipelining(**limits: int) -> tuple[PartitionWriter, GatedAppender]:
    """A writer whose last commit had two appends."""
    writer, appender = a_writer(**limits)
    appender.gate.set()
    await asyncio.gather(*(writer.submit(a_batch()) for _ in range(2)))
    appender.groups.clear()
    return writer, appender


async def test_who_sends_several_at_a_time_shares_a_commit_with_what_each_turn_brings():
    writer, appender = await pipelining()
    for _ in range(4):
        writer.submit(a_batch())
        await turns(1)
    assert appender.groups == []
    await turns(2)
    assert [len(group) for group in appender.groups] == [4]


async def test_who_sends_one_at_a_time_waits_for_nobody():
    writer, appender = a_writer()
    appender.gate.set()
    await writer.submit(a_batch())
    appender.groups.clear()
    for _ in range(3):
        writer.submit(a_batch())
        await turns(1)
    assert [len(group) for group in appender.groups] == [1, 1, 1]


@pytest.mark.parametrize("most", ["appends", "bytes"])
async def test_a_commit_that_is_full_does_not_wait(most, monkeypatch):
    size = len(a_batch().data)
    monkeypatch.setattr("samsa.log.writer.GATHERED_BYTES", 2 * size if most == "bytes" else 1 << 20)
    writer, appender = await pipelining(commit_appends=2 if most == "appends" else 1_000)
    for _ in range(2):
        writer.submit(a_batch())
        await turns(1)
    assert [len(group) for group in appender.groups] == [2]


async def test_the_order_of_arrival_is_the_order_of_writing():
    writer, appender = a_writer()
    batches = [a_batch(b"%d" % number) for number in range(7)]
    futures = [writer.submit(batch) for batch in batches]
    appender.gate.set()
    await asyncio.gather(*futures)
    assert [batch for group in appender.groups for batch in group] == batches


async def test_a_commit_takes_no_more_bytes_than_it_may():
    size = len(a_batch().data)
    writer, appender = a_writer(commit_bytes=3 * size)
    futures = [writer.submit(a_batch()) for _ in range(7)]
    appender.gate.set()
    await asyncio.gather(*futures)
    assert [len(group) for group in appender.groups] == [3, 3, 1]


async def test_an_append_larger_than_a_commit_has_one_of_its_own():
    small, large = len(a_batch().data), a_batch(b"x" * 1_000)
    writer, appender = a_writer(commit_bytes=2 * small)
    futures = [writer.submit(batch) for batch in (a_batch(), large, a_batch(), a_batch())]
    appender.gate.set()
    await asyncio.gather(*futures)
    assert [len(group) for group in appender.groups] == [1, 1, 2]


async def test_a_commit_takes_no_more_appends_than_it_may():
    writer, appender = a_writer(commit_appends=2)
    futures = [writer.submit(a_batch()) for _ in range(5)]
    appender.gate.set()
    await asyncio.gather(*futures)
    assert [len(group) for group in appender.groups] == [2, 2, 1]


def of_producers(*producer_ids: int) -> list[Batch]:
    return [sequenced(0, producer_id=producer_id) for producer_id in producer_ids]


async def groups_of(*producer_ids: int, **limits: int) -> list[list[int]]:
    """The producers of each commit, when all of these come at once."""
    writer, appender = a_writer(**limits)
    futures = [writer.submit(batch) for batch in of_producers(*producer_ids)]
    appender.gate.set()
    await asyncio.gather(*futures)
    return [[batch.header.producer_id for batch in group] for group in appender.groups]


async def test_a_commit_has_no_more_producers_than_it_may():
    groups = await groups_of(*range(1, 8), commit_producers=3)
    assert groups == [[1, 2, 3], [4, 5, 6], [7]]


async def test_a_producer_counts_once_however_many_batches_it_has_in_a_commit():
    groups = await groups_of(1, 2, 1, 1, 2, 3, 1, commit_producers=2)
    assert groups == [[1, 2, 1, 1, 2], [3, 1]]


async def test_a_crowd_of_producers_takes_as_many_commits_as_their_claims_need():
    given = await a_log(commit_producers=3)
    claims: list[int] = []
    commit = given.journal.commit

    async def counted(partition, extent, parts, claimed, lingers):
        claims.append(len(claimed))
        return await commit(partition, extent, parts, claimed, lingers)

    given.journal.commit = counted
    batches = of_producers(*range(1, 11))
    outcomes = await asyncio.gather(*(given.log.append(PARTITION, batch) for batch in batches))
    assert [outcome.offset for outcome in outcomes] == list(range(10))
    assert claims == [3, 3, 3, 1]


async def test_all_appends_of_a_failed_commit_fail_and_the_next_is_tried():
    writer, appender = a_writer(commit_appends=2)
    futures = [writer.submit(a_batch()) for _ in range(3)]
    appender.error = Unavailable("down")
    appender.gate.set()
    failed = await asyncio.gather(*futures, return_exceptions=True)
    assert [type(error) for error in failed] == [Unavailable] * 3
    assert len(appender.groups) == 2
    appender.error = None
    assert (await writer.submit(a_batch())).refusal is None


async def test_a_client_that_goes_away_takes_nobody_with_it():
    writer, appender = a_writer()
    gone, stays = writer.submit(a_batch()), writer.submit(a_batch())
    gone.cancel()
    appender.gate.set()
    assert (await stays).offset == 1


async def test_a_writer_rests_when_nothing_is_left():
    writer, appender = a_writer()
    assert writer.idle
    future = writer.submit(a_batch())
    assert not writer.idle
    appender.gate.set()
    await writer.finished()
    assert writer.idle
    assert future.done()


async def test_many_appends_cost_one_put_and_one_commit():
    given = await a_log()
    await asyncio.gather(*(given.log.append(PARTITION, a_batch(b"%d" % n)) for n in range(50)))
    assert given.objects.calls["put"] == 1
    assert given.journal.calls["commit"] == 1
    assert await given.values() == [b"%d" % n for n in range(50)]


async def test_each_append_hears_its_own_offset():
    given = await a_log()
    batches = [a_batch(*[b"v"] * size) for size in (1, 3, 2)]
    outcomes = await asyncio.gather(*(given.log.append(PARTITION, batch) for batch in batches))
    assert [outcome.offset for outcome in outcomes] == [0, 1, 4]


@pytest.mark.parametrize("refusal", Refusal)
async def test_a_refusal_reaches_only_the_append_it_is_for(refusal):
    writer, appender = a_writer()

    async def append(partition: Partition, batches: list[Batch]) -> list[Outcome]:
        return [Outcome(5, 0), Outcome(-1, -1, refusal)]

    appender.append = append
    first, second = writer.submit(a_batch()), writer.submit(a_batch())
    assert (await first).refusal is None
    assert (await second).refusal is refusal
