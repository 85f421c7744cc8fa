"""Appends that are noted before they are written down: by whom, and what a crash leaves of them."""

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from unit.local.alone import PARTITION, PARTITIONS, TOPIC, Alone, crashed
from unit.local.stores import CommitsAndRaises

from samsa.local import settling
from samsa.local import write_behind as module
from samsa.local.append_journal import AppendJournal, Note
from samsa.local.ownership import Ownership
from samsa.ports import Bound, Claim, Extent, Tail, UnknownPartition


@pytest.fixture
async def alone(tmp_path: Path) -> AsyncIterator[Alone]:
    alone = Alone(tmp_path)
    await alone.ledger.create_topic(TOPIC)
    assert alone.is_alone
    yield alone
    await alone.close()


async def test_the_first_append_is_written_and_the_next_are_noted(alone: Alone):
    for base in range(3):
        assert (await alone.append(base)).head.next_offset == base + 1
    assert alone.in_the_database() == 1
    assert alone.waiting == 2


async def test_partitions_that_take_turns_are_noted(alone: Alone):
    for base in range(4):
        for partition in PARTITIONS:
            assert (await alone.append(base, partition=partition)).base == base
    assert alone.waiting == 3 * len(PARTITIONS)
    for partition in PARTITIONS:
        assert (await alone.ledger.head(partition)).next_offset == 4


async def test_producers_that_take_turns_are_noted(alone: Alone):
    for base in range(6):
        producer, version = 7 + base % 2, base // 2
        assert (await alone.append(base, Claim(producer, b"%d" % base, version, 99))).base == base
    assert alone.waiting == 4
    assert await alone.journal.producer(PARTITION, 7) == Bound(3, b"4", 4)
    assert await alone.journal.producer(PARTITION, 8) == Bound(3, b"5", 5)


async def test_what_is_done_to_a_partition_leaves_the_others_noted(alone: Alone):
    for partition in PARTITIONS:
        await alone.append(0, partition=partition)
    await alone.ledger.watch(PARTITION, "someone", 99)
    for partition in PARTITIONS:
        await alone.append(1, partition=partition)
    assert alone.waiting == len(PARTITIONS) - 1


async def test_no_more_is_remembered_than_there_is_room_for(
    alone: Alone, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "REMEMBERED", 3)
    for number, partition in enumerate(PARTITIONS):
        await alone.append(0, Claim(number, b"state", 0, 99), partition=partition)
    for partition in PARTITIONS:
        await alone.append(1, partition=partition)
    assert alone.waiting == 1


async def test_no_more_producers_of_a_partition_are_remembered(
    alone: Alone, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "REMEMBERED", 3)
    for producer in range(9):
        await alone.append(producer, Claim(producer, b"state", 0, 99))
    (standing,) = alone.ledger.write_behind._standings.values()
    assert len(standing.versions) <= 4
    assert await alone.single_bytes() == [b"%d" % digit for digit in range(9)]


async def test_whoever_asks_the_ledger_sees_what_is_noted(alone: Alone):
    for base in range(3):
        await alone.append(base)
    assert (await alone.ledger.head(PARTITION)).next_offset == 3
    assert await alone.single_bytes() == [b"0", b"1", b"2"]
    assert alone.in_the_database() == 3


async def test_what_lies_one_behind_the_other_is_one_entry_of_the_index(alone: Alone):
    for base in range(4):
        await alone.append(base)
    assert [(e.base, e.offsets) for e in await alone.ledger.extents(PARTITION, 0, 9)] == [
        (0, 1),
        (1, 3),
    ]


async def test_what_lies_apart_is_not_joined(alone: Alone):
    for base in range(3):
        await alone.append(base)
    place = alone.journal._packs.place(PARTITION, 3, 10)
    alone.journal._packs.keep(place)  # as if a thread still wrote there
    await alone.append(3)
    assert await alone.single_bytes() == [b"0", b"1", b"2", b"3"]
    assert len(await alone.ledger.extents(PARTITION, 0, 9)) == 3


async def test_what_was_perhaps_written_before_is_not_indexed_twice(
    alone: Alone, monkeypatch: pytest.MonkeyPatch
):
    for base in range(3):
        await alone.append(base)

    with monkeypatch.context() as patch:
        patch.setattr(settling, "SqlTransaction", CommitsAndRaises)
        with pytest.raises(sqlite3.OperationalError):
            alone.ledger.write_behind.settle()
    await alone.append(3)
    assert await alone.single_bytes() == [b"0", b"1", b"2", b"3"]
    assert [(e.base, e.offsets) for e in await alone.ledger.extents(PARTITION, 0, 9)] == [
        (0, 1),
        (1, 2),
        (3, 1),
    ]


async def test_notes_are_written_down_soon(alone: Alone):
    for base in range(3):
        await alone.append(base)
    await asyncio.sleep(10 * module.SETTLE_AFTER_S)
    assert alone.in_the_database() == 3
    assert (alone.folder / "ledger.db-notes").stat().st_size == 0


async def test_many_notes_are_written_down_at_once(alone: Alone, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MANY", 3)
    for base in range(5):
        await alone.append(base)
    assert alone.in_the_database() == 4


async def test_what_was_noted_survives_a_crash(alone: Alone, tmp_path: Path):
    for base in range(4):
        await alone.append(base, Claim(7, b"state %d" % base, base, 99))
    crashed(alone, tmp_path / "copy")
    after = Alone(tmp_path / "copy", "b")
    assert await after.single_bytes() == [b"0", b"1", b"2", b"3"]
    assert await after.journal.producer(PARTITION, 7) == Bound(4, b"state 3", 3)
    assert (await after.append(4)).base == 4
    await after.close()


async def test_what_was_noted_of_several_partitions_survives_a_crash(alone: Alone, tmp_path: Path):
    for base in range(3):
        for partition in PARTITIONS:
            await alone.append(base, Claim(7, b"state %d" % base, base, 99), partition=partition)
    assert alone.in_the_database() == len(PARTITIONS)
    crashed(alone, tmp_path / "copy")
    after = Alone(tmp_path / "copy", "b")
    assert after.in_the_database() == 3 * len(PARTITIONS)
    for partition in PARTITIONS:
        assert (await after.ledger.head(partition)).next_offset == 3
        assert await after.journal.producer(partition, 7) == Bound(3, b"state 2", 2)
    await after.close()


async def test_a_crash_before_the_notes_are_cleared_does_no_harm(alone: Alone, tmp_path: Path):
    for base in range(3):
        await alone.append(base, Claim(7, b"state %d" % base, base, 99))
    notes = (tmp_path / "ledger.db-notes").read_bytes()
    await alone.append(3, Claim(7, b"state 3", 3, 99))
    alone.ledger.write_behind.settle()
    crashed(alone, tmp_path / "copy")
    (tmp_path / "copy" / "ledger.db-notes").write_bytes(notes)
    after = Alone(tmp_path / "copy", "b")
    assert await after.single_bytes() == [b"0", b"1", b"2", b"3"]
    assert await after.journal.producer(PARTITION, 7) == Bound(4, b"state 3", 3)
    await after.close()


async def test_a_torn_note_was_never_made(alone: Alone, tmp_path: Path):
    for base in range(3):
        await alone.append(base)
    crashed(alone, tmp_path / "copy")
    notes = tmp_path / "copy" / "ledger.db-notes"
    os.truncate(notes, notes.stat().st_size - 1)
    after = Alone(tmp_path / "copy", "b")
    assert await after.single_bytes() == [b"0", b"1"]
    assert (await after.append(2)).base == 2
    await after.close()


async def test_notes_of_a_topic_that_is_gone_are_dropped(alone: Alone, tmp_path: Path):
    for base in range(2):
        await alone.append(base)
    notes = (tmp_path / "ledger.db-notes").read_bytes()
    await alone.ledger.delete_topic(TOPIC)
    await alone.ledger.forget_topic(TOPIC)
    crashed(alone, tmp_path / "copy")
    (tmp_path / "copy" / "ledger.db-notes").write_bytes(notes)
    after = Alone(tmp_path / "copy", "b")
    assert after.in_the_database() == 0
    await after.close()


async def test_a_claim_that_is_not_the_next_takes_a_transaction_and_loses(alone: Alone):
    await alone.append(0, Claim(7, b"one", 0, 99))
    done = await alone.append(1, Claim(7, b"late", 0, 99))
    assert (done.base, done.lost) == (None, (7,))
    assert (await alone.append(1, Claim(7, b"two", 1, 99))).base == 1


async def test_a_stale_guess_is_noted_and_shifted(alone: Alone):
    for guess in (0, 0, 0, 1):
        await alone.append(guess)
    assert alone.waiting == 3
    shifts = {0: (0, 1), 1: (1, 1), 2: (2, 2)}
    found = await alone.ledger.extents(PARTITION, 0, 9)
    assert {e.base: (e.shift, e.offsets) for e in found} == shifts
    assert await alone.single_bytes() == [b"0", b"0", b"0", b"1"]


async def test_a_partition_that_was_asked_for_is_noted_at_once(alone: Alone):
    assert await alone.journal.next_offset(PARTITION) == 0
    assert (await alone.append(0)).base == 0
    assert alone.waiting == 1


async def test_the_next_offset_is_known_while_nothing_is_written_down(alone: Alone):
    for base in range(3):
        assert await alone.journal.next_offset(PARTITION) == base
        await alone.append(base)
    assert alone.waiting == 3
    assert alone.ledger.calls["head"] == 1


async def test_an_end_from_before_it_was_alone_is_not_taken_for_the_end(tmp_path: Path):
    alone = Alone(tmp_path)
    await alone.ledger.create_topic(TOPIC)
    await alone.append(0)  # by a transaction
    await alone.append(1)
    await alone.ledger.watch(PARTITION, "someone", 99)  # the partition is forgotten
    assert await alone.journal.next_offset(PARTITION) == 2
    await alone.close()


async def test_to_settle_is_to_write_the_notes_down(alone: Alone):
    await alone.append(0)
    await alone.append(1)
    await alone.journal.settle(PARTITION)
    assert alone.waiting == 0
    assert alone.in_the_database() == 2


async def test_a_commit_after_a_crash_follows_what_was_noted(alone: Alone, tmp_path: Path):
    """Also where its writer guesses what the dead process saw, and with the producer's state."""
    for base in range(3):
        await alone.append(0, Claim(7, b"state %d" % base, base, 99))
    crashed(alone, tmp_path / "copy")
    after = Alone(tmp_path / "copy", "b")
    assert (await after.append(0, Claim(7, b"old", 2, 99))).lost == (7,)
    assert await after.journal.producer(PARTITION, 7) == Bound(3, b"state 2", 2)
    assert (await after.append(1, Claim(7, b"state 3", 3, 99))).base == 3
    found = await after.ledger.extents(PARTITION, 0, 9)
    assert [(extent.base, extent.shift) for extent in found] == [(0, 0), (1, 1), (2, 2), (3, 2)]
    await after.close()


async def test_a_producer_that_was_forgotten_in_between_is_seen(alone: Alone):
    await alone.append(0, Claim(7, b"one", 0, 5))
    await alone.ledger.forget_producers(9)
    assert (await alone.append(1, Claim(7, b"two", 1, 99))).lost == (7,)


async def test_a_start_that_moved_in_between_is_seen(alone: Alone):
    await alone.append(0)
    await alone.append(1)
    await alone.ledger.advance_start(PARTITION, 1)
    assert (await alone.append(2)).head.log_start == 1


async def test_a_topic_that_went_in_between_is_missed(alone: Alone):
    await alone.append(0)
    await alone.ledger.delete_topic(TOPIC)
    await alone.ledger.forget_topic(TOPIC)
    with pytest.raises(UnknownPartition):
        await alone.append(1)


async def test_who_waits_for_the_partition_is_seen_by_the_next_append(alone: Alone):
    await alone.append(0)
    await alone.ledger.watch(PARTITION, "someone", 99)
    assert (await alone.append(1)).head.watchers == {"someone": 99}


def bases(tail: Tail | None) -> list[int] | None:
    return None if tail is None else [extent.base for extent in tail.extents]


async def test_whoever_reads_at_the_end_need_not_ask_the_ledger(alone: Alone):
    for base in range(4):
        await alone.append(base)
    before = dict(alone.ledger.calls)
    for offset, found in {0: None, 1: [1, 2, 3], 2: [2, 3], 3: [3], 4: []}.items():
        assert bases(alone.journal.tail(PARTITION, offset)) == found
    assert alone.ledger.calls == before
    assert alone.waiting == 3


async def test_the_end_is_what_the_ledger_would_say(alone: Alone):
    await alone.append(0)
    await alone.append(1)
    await alone.ledger.watch(PARTITION, "someone", 99)
    await alone.append(2)
    await alone.append(3)
    tail = alone.journal.tail(PARTITION, 3)
    assert tail is not None
    assert tail.head == await alone.ledger.head(PARTITION)
    assert tail.extents == await alone.ledger.extents(PARTITION, 3, 1)


async def test_an_offset_within_an_entry_leads_to_the_entry(alone: Alone):
    await alone.append(0)
    extent = Extent(1, 5, 2, 7, 8, "", (), 5)
    await alone.journal.commit(PARTITION, extent, [b"ab"], ())
    await alone.append(6)
    assert bases(alone.journal.tail(PARTITION, 3)) == [1, 6]


async def test_what_is_written_down_is_asked_of_the_ledger(alone: Alone):
    for base in range(3):
        await alone.append(base)
    alone.ledger.write_behind.settle()
    assert alone.journal.tail(PARTITION, 1) is None
    assert bases(alone.journal.tail(PARTITION, 3)) == []
    await alone.append(3)
    assert alone.journal.tail(PARTITION, 2) is None
    assert bases(alone.journal.tail(PARTITION, 3)) == [3]


async def test_nobody_knows_the_end_of_a_partition_that_others_change(alone: Alone):
    await alone.append(0)
    await alone.append(1)
    newcomer = await asyncio.to_thread(Alone, alone.folder, "b")
    await newcomer.append(2)
    assert alone.journal.tail(PARTITION, 1) is None
    assert alone.journal.tail(PARTITION, 2) is None
    assert newcomer.journal.tail(PARTITION, 3) is None
    await newcomer.close()


async def test_while_the_database_is_busy_appends_go_on(alone: Alone):
    await alone.append(0)
    busy = sqlite3.connect(alone.folder / "ledger.db", isolation_level=None)
    busy.execute("BEGIN IMMEDIATE")
    assert (await alone.append(1)).base == 1
    await asyncio.sleep(10 * module.SETTLE_AFTER_S)
    busy.execute("ROLLBACK")
    busy.close()
    assert await alone.single_bytes() == [b"0", b"1"]


async def test_a_newcomer_is_let_in_and_sees_everything(alone: Alone):
    for base in range(3):
        await alone.append(base)
    newcomer = await asyncio.to_thread(Alone, alone.folder, "b")
    assert not newcomer.is_alone
    assert await newcomer.single_bytes() == [b"0", b"1", b"2"]
    assert (await newcomer.append(3)).base == 3
    assert (await alone.append(3)).base == 4
    assert alone.waiting == 0
    assert await newcomer.single_bytes() == [b"0", b"1", b"2", b"3", b"3"]
    await newcomer.close()


async def test_two_who_open_together_are_never_both_alone(tmp_path: Path):
    both = [Alone(tmp_path, "a"), await asyncio.to_thread(Alone, tmp_path, "b")]
    assert [one.ledger.write_behind.alone for one in both] == [False, False]
    for one in both:
        await one.close()


def test_who_is_not_let_in_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("samsa.local.ownership.KNOCKS", 3)
    hermit = Ownership(str(tmp_path / "ledger.db"))
    assert hermit.try_alone()
    with pytest.raises(OSError, match="does not let others in"):
        Ownership(str(tmp_path / "ledger.db"))
    assert hermit.knocked
    hermit.share()
    Ownership(str(tmp_path / "ledger.db")).close()
    assert not hermit.knocked
    hermit.close()


def test_a_note_comes_back_whole(tmp_path: Path):
    notes = AppendJournal(str(tmp_path / "notes"))
    extent = Extent(5, 9, 80_000_000, -1, 1_700_000_000_000, "pack/ä", ((1, 2), (3, 4)), 17, 4_096)
    extent = extent._replace(shift=-3)
    claims = (Claim(7, b"one", 3, 99), Claim(8, b"", 0, 0))
    made = [Note(PARTITION, extent, claims), Note(PARTITION, extent, ())]
    for note in made:
        notes.add(note)
    assert list(notes.read()) == made
    notes.clear()
    assert list(notes.read()) == []
    notes.close()
