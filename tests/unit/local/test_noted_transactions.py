"""Transactions that are noted before they are written down, and what a crash leaves of them."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from unit.local.alone import PARTITION, TOPIC, Alone, crashed
from unit.local.stores import CommitsAndRaises

from samsa.local import settling
from samsa.local.append_journal import AppendJournal, Note
from samsa.local.wakeups import LocalWakeups
from samsa.log.read import Reader
from samsa.log.stores import Stores
from samsa.ports import Aborted, Bound, Claim, CommitResult, End, Extent, Head
from samsa.runtime.system import SystemClock

SEVEN, EIGHT = 7, 8
NOTES = "ledger.db-notes"


class Producers:
    """Two producers whose states the process knows, so that whatever they do is noted."""

    def __init__(self, alone: Alone) -> None:
        self.alone = alone
        self.versions = {SEVEN: 0, EIGHT: 0}

    async def put(self, producer_id: int, opens: int = -1, ends: End | None = None) -> CommitResult:
        after = self.versions[producer_id]
        claim = Claim(producer_id, b"state %d" % after, after, 99, opens, ends)
        done = await self.alone.append(0, claim)
        assert done.base is not None
        self.versions[producer_id] += 1
        return done

    async def write(self, producer_id: int) -> CommitResult:
        return await self.put(producer_id, opens=0)

    async def abort(self, producer_id: int) -> CommitResult:
        return await self.put(producer_id, ends=End.ABORT)

    async def commit(self, producer_id: int) -> CommitResult:
        return await self.put(producer_id, ends=End.COMMIT)


@pytest.fixture
async def alone(tmp_path: Path) -> AsyncIterator[Alone]:
    alone = Alone(tmp_path)
    await alone.ledger.create_topic(TOPIC)
    yield alone
    await alone.close()


@pytest.fixture
async def producers(alone: Alone) -> Producers:
    """After an append of each, at the offsets 0 and 1, that are written down."""
    producers = Producers(alone)
    for producer_id in (SEVEN, EIGHT):
        await producers.put(producer_id)
    assert alone.waiting == 0
    return producers


async def transactions(alone: Alone) -> tuple[dict[int, int], int, list[Aborted]]:
    head = await alone.ledger.head(PARTITION)
    assert head.aborted == ()
    listed = await alone.ledger.aborted(PARTITION, 0, 99)
    return dict(head.open_transactions), head.aborted_to, listed


async def after_a_crash(alone: Alone, folder: Path) -> Alone:
    """The next process, on what a SIGKILL would leave now."""
    crashed(alone, folder)
    return Alone(folder, "b")


async def test_a_transaction_is_noted_from_its_first_batch_to_its_marker(
    alone: Alone, producers: Producers
):
    opening = (await producers.write(SEVEN)).head
    again = (await producers.write(SEVEN)).head
    ending = (await producers.abort(SEVEN)).head
    assert alone.waiting == 3
    assert opening == Head(3, 0, {}, open_transactions={SEVEN: 2})
    assert again == Head(4, 0, {}, open_transactions={SEVEN: 2})
    assert ending == Head(5, 0, {}, aborted_to=5)
    tail = alone.journal.tail(PARTITION, 5)
    assert tail is not None
    assert tail.head == ending == await alone.ledger.head(PARTITION)
    assert alone.waiting == 0
    assert await transactions(alone) == ({}, 5, [Aborted(4, SEVEN, 2, 5)])


async def test_an_append_of_another_producer_leaves_a_noted_transaction_open(
    alone: Alone, producers: Producers
):
    await producers.write(SEVEN)
    await producers.put(EIGHT)
    await producers.put(SEVEN)
    assert (await alone.append(0)).head.open_transactions == {SEVEN: 2}
    assert alone.waiting == 4
    assert await transactions(alone) == ({SEVEN: 2}, 0, [])
    await alone.append(0)
    assert alone.waiting == 1
    assert await transactions(alone) == ({SEVEN: 2}, 0, [])


async def test_what_is_written_down_while_a_transaction_is_open_is_gone_on_from(
    alone: Alone, producers: Producers
):
    await producers.write(SEVEN)
    alone.ledger.write_behind.settle()
    await producers.write(EIGHT)
    alone.ledger.write_behind.settle()
    assert (await producers.commit(SEVEN)).head.open_transactions == {EIGHT: 3}
    assert (await producers.abort(EIGHT)).head.aborted_to == 6
    assert alone.waiting == 2
    assert await transactions(alone) == ({}, 6, [Aborted(5, EIGHT, 3, 6)])


async def test_several_transactions_of_one_producer_are_written_down_at_once(
    alone: Alone, producers: Producers
):
    await producers.write(EIGHT)  # at 2, and stays open
    for _ in range(3):
        await producers.write(SEVEN)
        await producers.abort(SEVEN)
    await producers.write(SEVEN)
    await producers.commit(SEVEN)
    await producers.write(SEVEN)
    assert alone.waiting == 10
    aborted = [Aborted(marker, SEVEN, marker - 1, 2) for marker in (4, 6, 8)]
    assert await transactions(alone) == ({EIGHT: 2, SEVEN: 11}, 9, aborted)


async def test_a_producer_that_opened_and_ended_in_one_batch_of_notes_has_nothing_open(
    alone: Alone, producers: Producers
):
    await producers.write(SEVEN)
    await producers.write(SEVEN)
    await producers.commit(SEVEN)
    await producers.put(SEVEN)
    assert alone.waiting == 4
    assert await transactions(alone) == ({}, 0, [])


async def test_what_was_noted_of_transactions_survives_a_crash(
    alone: Alone, producers: Producers, tmp_path: Path
):
    await producers.write(EIGHT)
    await producers.write(SEVEN)
    await producers.abort(SEVEN)
    await producers.write(SEVEN)
    after = await after_a_crash(alone, tmp_path / "copy")
    assert await transactions(after) == ({EIGHT: 2, SEVEN: 5}, 5, [Aborted(4, SEVEN, 3, 2)])
    assert await after.journal.producer(PARTITION, SEVEN) == Bound(4, b"state 3", 5)
    again = Producers(after)
    again.versions = producers.versions
    assert (await again.abort(SEVEN)).head == Head(7, 0, {}, 0, (), {EIGHT: 2}, 7)
    assert (await again.commit(EIGHT)).head.stable_end == 8
    await after.close()


async def test_a_marker_that_only_its_note_knows_of_survives_a_crash(
    alone: Alone, producers: Producers, tmp_path: Path
):
    await producers.write(SEVEN)
    await producers.write(EIGHT)
    alone.ledger.write_behind.settle()
    await producers.abort(SEVEN)
    after = await after_a_crash(alone, tmp_path / "copy")
    assert await transactions(after) == ({EIGHT: 3}, 5, [Aborted(4, SEVEN, 2, 3)])
    await after.close()


async def test_a_marker_whose_note_is_torn_ended_nothing(
    alone: Alone, producers: Producers, tmp_path: Path
):
    await producers.write(SEVEN)
    await producers.abort(SEVEN)
    crashed(alone, tmp_path / "copy")
    notes = tmp_path / "copy" / NOTES
    notes.write_bytes(notes.read_bytes()[:-1])
    after = Alone(tmp_path / "copy", "b")
    assert await transactions(after) == ({SEVEN: 2}, 0, [])
    await after.close()


async def test_notes_that_are_recovered_twice_change_nothing(
    alone: Alone, producers: Producers, tmp_path: Path
):
    await producers.write(SEVEN)
    await producers.abort(SEVEN)
    await producers.write(EIGHT)
    notes = (alone.folder / NOTES).read_bytes()
    assert notes
    first = await after_a_crash(alone, tmp_path / "copy")
    before = await transactions(first)
    assert before == ({EIGHT: 4}, 4, [Aborted(3, SEVEN, 2, 4)])
    extents = await first.ledger.extents(PARTITION, 0, 99)
    await first.close()
    (tmp_path / "copy" / NOTES).write_bytes(notes)
    second = Alone(tmp_path / "copy", "c")
    assert await transactions(second) == before
    assert await second.ledger.extents(PARTITION, 0, 99) == extents
    await second.close()


async def test_old_notes_that_are_recovered_late_bring_nothing_back(
    alone: Alone, producers: Producers, tmp_path: Path
):
    """Neither the transaction, which has ended since, nor the producer, nor what was aborted, nor
    the extents, which are gone since."""
    await producers.write(EIGHT)
    await producers.abort(EIGHT)
    await producers.write(SEVEN)
    notes = (alone.folder / NOTES).read_bytes()
    await producers.commit(SEVEN)
    await alone.ledger.forget_aborted(PARTITION, [3])
    await alone.ledger.advance_start(PARTITION, 5)
    await alone.ledger.drop_extents(PARTITION, 5)
    assert await alone.ledger.forget_producers(100) == 2
    left = await alone.ledger.extents(PARTITION, 0, 99)
    crashed(alone, tmp_path / "copy")
    (tmp_path / "copy" / NOTES).write_bytes(notes)
    after = Alone(tmp_path / "copy", "b")
    assert await transactions(after) == ({}, 0, [])
    assert await after.ledger.producers(PARTITION, 0) == {}
    assert await after.ledger.extents(PARTITION, 0, 99) == left
    await after.close()


async def test_new_notes_behind_old_ones_that_are_written_down_are_recovered(
    alone: Alone, producers: Producers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The file could not be cleared in between."""

    def fail(notes: AppendJournal) -> None:
        raise OSError("disk full")

    await producers.write(SEVEN)
    await producers.abort(SEVEN)
    with monkeypatch.context() as patch:
        patch.setattr(AppendJournal, "clear", fail)
        alone.ledger.write_behind.settle()
    await alone.ledger.forget_aborted(PARTITION, [3])
    await alone.journal.next_offset(PARTITION)
    await alone.append(4)
    assert alone.waiting == 1
    after = await after_a_crash(alone, tmp_path / "copy")
    assert (await after.ledger.head(PARTITION)).next_offset == 5
    assert after.in_the_database() == 5
    assert await transactions(after) == ({}, 0, [])
    await after.close()


async def test_what_was_perhaps_written_before_is_ended_once(
    alone: Alone, producers: Producers, monkeypatch: pytest.MonkeyPatch
):
    await producers.write(SEVEN)
    await producers.write(EIGHT)
    await producers.abort(SEVEN)

    with monkeypatch.context() as patch:
        patch.setattr(settling, "SqlTransaction", CommitsAndRaises)
        with pytest.raises(sqlite3.OperationalError):
            alone.ledger.write_behind.settle()
    await producers.abort(EIGHT)
    aborted = [Aborted(4, SEVEN, 2, 3), Aborted(5, EIGHT, 3, 6)]
    assert await transactions(alone) == ({}, 6, aborted)


async def test_a_marker_that_was_judged_too_early_takes_a_transaction_and_loses(
    alone: Alone, producers: Producers
):
    await producers.write(SEVEN)
    late = Claim(SEVEN, b"late", 1, 99, ends=End.ABORT)
    done = await alone.append(0, late)
    assert (done.base, done.lost, done.head.open_transactions) == (None, (SEVEN,), {SEVEN: 2})
    assert (await producers.commit(SEVEN)).head.open_transactions == {}


async def test_a_newcomer_sees_the_transactions_that_were_noted(alone: Alone, producers: Producers):
    await producers.write(SEVEN)
    await producers.abort(SEVEN)
    await producers.write(EIGHT)
    assert alone.waiting == 3
    newcomer = await asyncio.to_thread(Alone, alone.folder, "b")
    assert not newcomer.is_alone
    assert await transactions(newcomer) == ({EIGHT: 4}, 4, [Aborted(3, SEVEN, 2, 4)])
    theirs = Producers(newcomer)
    theirs.versions = producers.versions
    await theirs.abort(EIGHT)
    assert (await transactions(alone))[0] == {}
    await newcomer.close()


def test_the_note_of_a_transaction_comes_back_whole(tmp_path: Path):
    notes = AppendJournal(str(tmp_path / "notes"))
    extent = Extent(5, 9, 80_000_000, -1, 1_700_000_000_000, "pack/ä", ((1, 2), (3, 4)), 17, 4_096)
    claims = tuple(Claim(number, b"state" * number, number, 99) for number in range(4))
    aborted = Aborted(2**62, 7, 2**61, 2**60)
    made = [
        Note(PARTITION, extent, claims, (None, 0, None, 2**62)),
        Note(PARTITION, extent, claims[:1], (3,), aborted),
        Note(PARTITION, extent, claims[:1], (), aborted),
        Note(PARTITION, extent, claims),
        Note(PARTITION, extent, (), (), None),
    ]
    for note in made:
        notes.add(note)
    assert list(notes.read()) == made
    notes.close()


async def test_a_reader_looks_no_further_than_the_first_that_has_nothing_open_before_its_end(
    alone: Alone,
):
    """What comes after it begins later. Here it does not, to show that it is not looked at."""
    rows = [Aborted(10, SEVEN, 5, 8), Aborted(20, EIGHT, 8, 21), Aborted(30, SEVEN, 3, 31)]
    with closing(sqlite3.connect(alone.folder / "ledger.db")) as db:
        for row in rows:
            db.execute(
                "INSERT INTO aborted VALUES (?,?,?,?,?,?)", (PARTITION.topic_id.bytes, 0, *row)
            )
        db.commit()
    assert await alone.ledger.aborted(PARTITION, 0, 8) == rows[:1]
    assert await alone.ledger.aborted(PARTITION, 0, 9) == rows[:2]
    assert await alone.ledger.aborted(PARTITION, 11, 22) == rows[1:]


async def test_a_reader_behind_an_open_transaction_asks_the_ledger_nothing(
    alone: Alone, producers: Producers
):
    """Each append wakes it. If it asked, each append would be written down for it, too."""
    wakeups = LocalWakeups()
    stores = Stores(alone.ledger, alone.objects, alone.journal, SystemClock(), wakeups, str)
    reader = Reader(stores)
    await producers.write(SEVEN)
    await alone.ledger.extents(PARTITION, 0, 1)  # writes down what is noted
    await reader.plan(PARTITION, 2, 1_000, committed=True)
    before = dict(alone.ledger.calls)
    for number in range(5):
        await producers.write(EIGHT)
        plan = await reader.plan(PARTITION, 2, 1_000, committed=True)
        assert (plan.stable_end, plan.visible_end, plan.ranges) == (2, 4 + number, [])
    assert dict(alone.ledger.calls) == before
    await alone.ledger.extents(PARTITION, 0, 1)
    before = dict(alone.ledger.calls)
    assert (await reader.plan(PARTITION, 2, 1_000, committed=True)).ranges == []
    assert dict(alone.ledger.calls) == before
    assert (await reader.plan(PARTITION, 2, 1_000)).ranges != [], "a plain reader gets them"
