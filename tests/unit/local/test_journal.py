"""The journal: an append is stored whole, or nothing is."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from threading import Event, current_thread, main_thread
from uuid import UUID

import pytest
from unit.local.stores import PARTITION, LocalStores

from samsa.bounded import Bounded
from samsa.local import ledger_journal
from samsa.local.database import Busy
from samsa.local.inline_write_policy import LONG_S, QUICK_BYTES
from samsa.local.packs import PackPosition, Packs
from samsa.ports import (
    Bound,
    Buffer,
    Claim,
    Extent,
    Missing,
    Partition,
    Topic,
    Unavailable,
    UnknownPartition,
)

TOPIC = Topic("letters", PARTITION.topic_id, 1, 0)


class Given(LocalStores):
    def packs(self) -> int:
        return sum(1 for path in (self.folder / "objects" / "pack").rglob("*") if path.is_file())


@pytest.fixture(params=[False, True], ids=["", "fsync"])
async def given(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Given]:
    given = Given(tmp_path, fsync=request.param)
    await given.ledger.create_topic(TOPIC)
    yield given
    await given.close()


async def test_an_append_takes_its_offsets_and_is_indexed(given: Given):
    for base in range(3):
        done = await given.commit(base, b"%d" % base)
        assert (done.base, done.head.next_offset) == (base, base + 1)
    assert await given.pieces() == [b"0", b"1", b"2"]
    assert given.packs() == 1


async def test_the_index_keeps_all_but_the_place_as_it_was_described(given: Given):
    extent = Extent(0, 9, 3, 7, 8, "", ((4, 1), (6, 2)), 9, 0, (3, 5))
    await given.journal.commit(PARTITION, extent, [b"abc"], ())
    [found] = await given.ledger.extents(PARTITION, 0, 1)
    assert found._replace(key="") == extent


async def test_a_large_append_is_stored_as_a_small_one_is(given: Given):
    data = bytes(range(256)) * (QUICK_BYTES // 256 + 1)
    assert (await given.commit(0, data)).base == 0
    assert await given.pieces() == [data]


async def test_who_gave_up_waiting_for_a_write_leaves_its_place_alone(
    given: Given, monkeypatch: pytest.MonkeyPatch
):
    """The thread writes on, and must not write over what comes next."""
    write, go_on = Packs.write, Event()

    def slowly(packs: Packs, place: PackPosition, parts: Sequence[Buffer]) -> None:
        go_on.wait()
        write(packs, place, parts)

    large, small = b"x" * (QUICK_BYTES + 1), b"small"
    monkeypatch.setattr(Packs, "write", slowly)
    gone = asyncio.create_task(given.commit(0, large))
    await asyncio.sleep(0.01)
    gone.cancel()
    await asyncio.wait([gone])
    monkeypatch.undo()
    assert (await given.commit(0, small)).base == 0
    go_on.set()
    await asyncio.to_thread(given.journal._threads.shutdown)
    assert await given.pieces() == [small]


async def test_a_broker_on_a_slow_disk_goes_on_with_others_while_it_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    given = Given(tmp_path)
    await given.ledger.create_topic(TOPIC)
    in_loop: list[bool] = []
    write = Packs.write

    def slowly(packs: Packs, place: PackPosition, parts: Sequence[Buffer]) -> None:
        in_loop.append(current_thread() is main_thread())
        time.sleep(2 * LONG_S)
        write(packs, place, parts)

    data = bytes(QUICK_BYTES)
    monkeypatch.setattr(Packs, "write", slowly)
    assert (await given.commit(0, data)).base == 0
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    meanwhile = asyncio.create_task(others())
    assert (await given.commit(1, data)).base == 1
    meanwhile.cancel()
    await given.close()
    assert in_loop == [True, False]
    assert turns > 1


async def test_two_processes_with_stale_guesses_leave_no_hole_and_say_how_wrong_they_were(
    given: Given,
):
    second = Given(given.folder, "b")
    guesses = []
    for base in range(6):
        one = second if base % 2 else given
        guesses.append(await one.journal.next_offset(PARTITION))
        assert (await one.commit(guesses[-1], b"%d" % base)).base == base
    await second.close()
    assert guesses == [0, 1, 1, 2, 3, 4]
    found = await given.ledger.extents(PARTITION, 0, 9)
    assert [(extent.base, extent.base - extent.shift) for extent in found] == list(
        enumerate(guesses)
    )
    assert await given.pieces() == [b"0", b"1", b"2", b"3", b"4", b"5"]


async def test_who_appended_last_guesses_right_without_asking(given: Given):
    await given.commit(0, b"0")
    asked = given.ledger.calls["head"]
    assert await given.journal.next_offset(PARTITION) == 1
    assert given.ledger.calls["head"] == asked


async def test_who_was_refused_knows_better_where_the_log_is(given: Given):
    await given.commit(0, b"0", Claim(7, b"one", 0, 99))
    second = Given(given.folder, "b")
    await second.commit(1, b"1")
    await given.commit(1, b"2", Claim(7, b"late", 0, 99))
    assert await given.journal.next_offset(PARTITION) == 2
    await second.close()


async def test_no_more_ends_are_remembered_than_there_is_room_for(
    given: Given, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(given.journal, "_ends", Bounded(1))
    other = Topic("other", UUID(int=2), 1, 0)
    await given.ledger.create_topic(other)
    await given.commit(0, b"0")
    extent = Extent(0, 1, 1, 7, 8, "", (), 1)
    await given.journal.commit(Partition(other.id, 0), extent, [b"x"], ())
    assert list(given.journal._ends) == [Partition(other.id, 0)]


async def test_a_claim_is_bound_with_its_append(given: Given):
    assert (await given.commit(0, b"0", Claim(7, b"one", 0, 99))).base == 0
    assert (await given.commit(1, b"1", Claim(7, b"two", 1, 99))).base == 1
    assert await given.journal.producer(PARTITION, 7) == Bound(2, b"two", 1)


async def test_if_one_claim_loses_nothing_is_stored_or_bound(given: Given):
    await given.commit(0, b"0", Claim(7, b"one", 0, 99))
    done = await given.commit(1, b"1", Claim(8, b"new", 0, 99), Claim(7, b"late", 0, 99))
    assert (done.base, done.lost, done.head.next_offset) == (None, (7,), 1)
    assert await given.journal.producer(PARTITION, 8) is None
    assert await given.journal.producer(PARTITION, 7) == Bound(1, b"one", 0)
    assert await given.pieces() == [b"0"]


async def test_a_lost_claim_gives_the_room_in_the_pack_back(given: Given):
    await given.commit(0, b"first", Claim(7, b"one", 0, 99))
    await given.commit(1, b"refused", Claim(7, b"late", 0, 99))
    await given.commit(1, b"next")
    assert [(e.base, e.start) for e in await given.ledger.extents(PARTITION, 0, 9)] == [
        (0, 0),
        (1, len(b"first")),
    ]


async def test_a_state_knows_the_base_that_its_commit_got_and_not_the_guess(given: Given):
    second = Given(given.folder, "b")
    await second.commit(0, b"0")
    await given.commit(0, b"1", Claim(7, b"one", 0, 99))
    await second.commit(0, b"2")
    await given.commit(0, b"3", Claim(7, b"two", 1, 99))
    await second.close()
    assert await given.journal.producer(PARTITION, 7) == Bound(2, b"two", 3)
    assert await given.ledger.producers(PARTITION, 0) == {7: Bound(2, b"two", 3)}


async def test_a_ledger_that_another_process_holds_is_not_waited_for_for_ever(
    given: Given, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ledger_journal, "BUSY_TRIES", 1)
    holder = Given(given.folder, "b")
    holder.ledger._db.execute("BEGIN IMMEDIATE")
    with pytest.raises(Busy):
        await given.commit(0, b"0")
    holder.ledger._db.execute("ROLLBACK")
    assert (await given.commit(0, b"0")).base == 0
    await holder.close()


async def test_a_partition_that_is_gone_leaves_no_pack(given: Given):
    await given.commit(0, b"0")
    await given.ledger.delete_topic(TOPIC)
    await given.ledger.forget_topic(TOPIC)
    with pytest.raises(UnknownPartition):
        await given.commit(1, b"1")
    assert given.packs() == 0


async def test_a_folder_that_cannot_be_written_is_unavailable(given: Given):
    objects = given.folder / "objects"
    objects.rename(given.folder / "aside")
    objects.write_text("not a folder")
    with pytest.raises(Unavailable):
        await given.commit(0, b"0")
    assert (await given.ledger.head(PARTITION)).next_offset == 0
    objects.unlink()
    (given.folder / "aside").rename(objects)
    assert (await given.commit(0, b"0")).base == 0


@pytest.mark.parametrize("alone", [False, True])
async def test_what_follows_a_pack_that_was_taken_away_is_stored_elsewhere(
    alone: bool, given: Given, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("samsa.local.journal.LISTEN_EVERY_S", 0.001)
    if alone:
        given.journal.stay_alone()
    for base in range(2):
        await given.commit(base, b"taken away")
    (given.folder / "objects" / "pack").rename(given.folder / "elsewhere")
    if alone:
        await asyncio.sleep(0.1)  # while it is, it looks now and then
    await given.commit(2, b"stored")
    [found] = await given.ledger.extents(PARTITION, 2, 1)
    assert bytes(await given.objects.get(found.key, found.start, found.size)) == b"stored"


async def test_a_sweep_deletes_what_another_process_left_once_it_is_dead(given: Given):
    dead = Given(given.folder, "b")
    for base in range(2):
        await dead.commit(base, b"%d" % base)
    await dead.close()
    await given.commit(2, b"2")
    for below, packs in ((1, 2), (2, 1)):
        await given.ledger.drop_extents(PARTITION, below)
        await given.journal.sweep(PARTITION, below)
        assert given.packs() == packs
    assert await given.pieces() == [b"2"]


async def test_a_sweep_leaves_what_another_process_writes_to(given: Given):
    other = Given(given.folder, "b")
    await other.commit(0, b"0")
    await given.ledger.drop_extents(PARTITION, 1)
    await given.journal.sweep(PARTITION, 1)
    assert (await other.commit(1, b"1")).base == 1
    assert await given.pieces() == [b"1"]
    await other.close()


async def test_a_reader_that_planned_on_what_is_swept_is_told_so(given: Given):
    await given.commit(0, b"0")
    (extent,) = await given.ledger.extents(PARTITION, 0, 1)
    await given.ledger.drop_extents(PARTITION, 1)
    await given.journal.sweep(PARTITION, 1)
    with pytest.raises(Missing):
        await given.objects.get(extent.key, extent.start, extent.size)


async def test_a_sweep_leaves_a_pack_that_holds_more_than_its_successor_begins_with(given: Given):
    """Two appends with the same guess: the one that was written first is committed last."""
    write, go_on = Packs.write, Event()

    def slowly(packs: Packs, place: PackPosition, parts: Sequence[Buffer]) -> None:
        go_on.wait()
        write(packs, place, parts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Packs, "write", slowly)
        late = asyncio.create_task(given.commit(0, b"x" * (QUICK_BYTES + 1)))
        await asyncio.sleep(0.01)
    given.journal._packs.leave(PARTITION)  # as if it were full
    for base in range(3):
        await given.commit(0, b"%d" % base)
    go_on.set()
    assert (await late).base == 3
    await given.ledger.drop_extents(PARTITION, 3)
    await given.journal.sweep(PARTITION, 3)
    [found] = await given.ledger.extents(PARTITION, 0, 9)
    assert (await given.objects.get(found.key, found.start, 1)) == b"x"
    assert given.packs() == 1


async def test_to_settle_a_partition_that_is_gone_says_so(given: Given):
    await given.journal.settle(PARTITION)
    with pytest.raises(UnknownPartition):
        await given.journal.settle(Partition(UUID(int=9), 0))


async def test_a_buried_topic_leaves_no_pack(given: Given):
    await given.commit(0, b"0")
    await given.journal.bury(PARTITION.topic_id)
    assert given.packs() == 0
