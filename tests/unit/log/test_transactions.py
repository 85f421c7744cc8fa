"""Transactional batches and markers in the log, and what readers with read_committed get."""

from itertools import count

import pytest
from unit.log.given import PARTITION, Given, a_batch, a_log, sequenced
from unit.log.transacting import append, committed, end, transactional

from samsa.log.admit import Refusal
from samsa.log.producers import Entry, ProducerDraft, ProducerState, Verdict, judge
from samsa.ports import Bound, End
from samsa.records import read_header
from samsa.records.control import commits, marker


@pytest.fixture
async def given() -> Given:
    return await a_log()


async def refusals(given: Given, *batches: object) -> list[Refusal | None]:
    return [one.refusal for one in await append(given, *batches)]  # type: ignore[arg-type]


# The state of a producer


@pytest.mark.parametrize("pack", [ProducerState.pack, ProducerState.pack_small])
@pytest.mark.parametrize("ended", [0, 1, 300, 2**40])
@pytest.mark.parametrize("batches", [0, 1, 5])
def test_a_state_keeps_the_serial_of_what_ended(pack, ended, batches):
    state = ProducerState(3, tuple(Entry(n, n, 10 + n) for n in range(batches)), 0, ended)
    assert ProducerState.of(Bound(1, pack(state), 99)) == state


def test_a_batch_of_a_transaction_that_has_ended_is_refused():
    draft = ProducerDraft.of(ProducerState(0, (), 0, 4))
    header = transactional(0).header
    assert judge(draft, header, 4) is Verdict.ENDED
    assert judge(draft, header, 3) is Verdict.ENDED
    assert judge(draft, header, 5) is Verdict.NEXT


def test_a_marker_of_a_newer_epoch_starts_the_sequence_afresh():
    state = ProducerState(0, (Entry(0, 4, 10),)).after_marker(1, 1)
    assert (state.epoch, state.entries, state.ended) == (1, (), 1)
    assert judge(ProducerDraft.of(state), transactional(0, epoch=1).header, 2) is Verdict.NEXT
    assert (
        judge(ProducerDraft.of(state), transactional(5, epoch=1).header, 2) is Verdict.OUT_OF_ORDER
    )


def test_a_marker_of_the_same_epoch_keeps_the_sequence():
    state = ProducerState(0, (Entry(0, 4, 10),)).after_marker(0, 1)
    assert judge(ProducerDraft.of(state), transactional(5).header, 2) is Verdict.NEXT


# Markers


def test_a_marker_says_how_its_transaction_ended():
    for is_commit in (True, False):
        data = marker(7, 3, is_commit, 1_000)
        header = read_header(data)
        assert commits(data) is is_commit
        assert header.is_control
        assert header.is_transactional
        assert (header.producer_id, header.producer_epoch, header.offsets) == (7, 3, 1)


async def test_a_marker_is_written_once_however_many_end_the_transaction(given):
    other = given.another()
    await append(given, transactional(0))
    assert await end(given, End.COMMIT)
    assert not await end(other, End.COMMIT)
    assert not await end(given, End.ABORT)
    assert (await given.log.head(PARTITION)).next_offset == 2


async def test_a_marker_without_batches_fences_a_batch_that_is_on_its_way(given):
    assert await end(given, End.ABORT)
    assert await refusals(given, transactional(0)) == [Refusal.ENDED]
    assert await given.values() == [b"\0\0\0\0\0\0"]  # the marker alone
    assert (await given.log.head(PARTITION)).open_transactions == {}


async def test_a_batch_that_was_judged_before_its_marker_is_refused(given):
    other = given.another()
    await append(given, transactional(0))  # `given` remembers this state
    await end(other, End.COMMIT)
    assert await refusals(given, transactional(1)) == [Refusal.ENDED]
    assert await refusals(given, transactional(1, serial=2)) == [None]


async def test_a_marker_that_was_judged_before_a_batch_ends_that_too(given):
    other = given.another()
    await append(given, transactional(0))
    await append(other, transactional(1))
    assert await end(given, End.ABORT)
    assert await committed(given) == []
    assert (await given.log.head(PARTITION)).open_transactions == {}


async def test_a_batch_that_comes_again_after_its_transaction_gets_its_first_answer(given):
    await append(given, transactional(0, records=2))
    await end(given, End.COMMIT)
    again = (await append(given.another(), transactional(0, records=2)))[0]
    assert (again.offset, again.refusal) == (0, None)


async def unknown() -> None:
    """The coordinator does not know of it."""


async def test_what_hangs_in_a_partition_is_aborted_there(given):
    await append(given, transactional(0, epoch=2))
    assert not await given.log.appender.abort(PARTITION, 7, 1, unknown), "an old epoch"
    assert (await given.log.head(PARTITION)).open_transactions == {7: 0}
    assert await given.log.appender.abort(PARTITION, 7, 2, unknown)
    assert (await given.log.head(PARTITION)).open_transactions == {}
    assert await committed(given) == []


async def test_to_abort_where_nothing_is_open_writes_nothing(given):
    await append(given, a_batch(b"plain"))
    assert await given.log.appender.abort(PARTITION, 7, 0, unknown)
    assert (await given.log.head(PARTITION)).next_offset == 1


# What readers get


async def test_an_open_transaction_holds_back_what_comes_after_it(given):
    await append(given, a_batch(b"before"))
    await append(given, transactional(0))
    await append(given, a_batch(b"after"))
    assert await committed(given) == [b"before"]
    plan = await given.log.plan(PARTITION, 0, 1_000, committed=True)
    assert (plan.stable_end, plan.visible_end, plan.waits_for) == (1, 3, {7: 1})
    await end(given, End.COMMIT)
    assert await committed(given) == [b"before", b"0", b"after"]


async def test_an_aborted_transaction_is_filtered_from_whatever_offset_one_reads(given):
    await append(given, a_batch(b"a"))
    await append(given, transactional(0, records=2))
    await append(given, a_batch(b"b"))
    await append(given, transactional(2))
    await end(given, End.ABORT)
    await append(given, a_batch(b"c"), transactional(3, serial=2))
    await end(given, End.COMMIT, serial=2)
    everything = [(0, b"a"), (3, b"b"), (6, b"c"), (7, b"3")]
    for offset in range(9):
        expected = [value for at, value in everything if at >= offset]
        assert await committed(given, offset) == expected, offset


async def test_the_stable_end_may_lie_inside_an_extent(given):
    """Batches that share a commit are one extent. A reader gets those below the stable end."""
    await append(given, a_batch(b"a"), a_batch(b"b"), transactional(0), a_batch(b"c"))
    assert len(await given.index()) == 1
    for offset, expected in enumerate(([b"a", b"b"], [b"b"], [], [], [])):
        assert await committed(given, offset) == expected, offset
    await end(given, End.ABORT)
    assert await committed(given) == [b"a", b"b", b"c"]


async def test_a_transaction_that_began_second_in_its_commit_opens_at_its_own_batch(given):
    await append(given, sequenced(0, producer_id=5), transactional(0, producer_id=6))
    assert (await given.log.head(PARTITION)).open_transactions == {6: 1}


async def test_two_transactions_hold_back_until_the_older_one_ends(given):
    await append(given, transactional(0, producer_id=5))
    await append(given, transactional(0, producer_id=6))
    await end(given, End.COMMIT, producer_id=6)
    assert await committed(given) == []
    await end(given, End.ABORT, producer_id=5)
    assert await committed(given) == [b"0"]


async def test_what_a_reader_may_see_is_exact_however_small_the_answers(given):
    numbers, expected = count(), []
    for serial in range(1, 30):
        how = End.ABORT if serial % 3 == 0 else End.COMMIT
        values = [next(numbers), next(numbers)]
        await append(given, transactional(values[0], serial, records=2))
        await append(given, a_batch(b"plain"))
        await end(given, how, serial)
        kept = [b"%d" % value for value in values] if how is End.COMMIT else []
        expected += [*kept, b"plain"]
    for max_bytes in (1, 100, 250, 1_000):
        assert await committed(given, max_bytes=max_bytes) == expected


async def test_a_reader_is_told_only_of_aborted_transactions_in_what_it_gets(given):
    for serial in range(1, 6):
        await append(given, transactional(serial - 1, serial))
        await end(given, End.ABORT, serial)
    plan = await given.log.plan(PARTITION, 4, 1, committed=True)
    assert [one.first for one in plan.aborted] == [4]


async def test_a_reader_without_isolation_sees_open_and_aborted_batches(given):
    await append(given, transactional(0))
    await end(given, End.ABORT)
    await append(given, transactional(1, serial=2))
    plan = await given.log.plan(PARTITION, 0, 1_000)
    assert (plan.ranges[-1].end_offset, plan.stable_end, plan.aborted) == (3, 2, ())


async def test_a_time_is_not_found_above_the_stable_end(given):
    await append(given, transactional(0))
    assert await given.log.times.at(PARTITION, 0, committed=True) is None
    assert (await given.log.times.at(PARTITION, 0)).offset == 0
    assert await given.log.times.newest(PARTITION, committed=True) is None


async def test_the_log_may_begin_inside_an_open_transaction(given):
    await append(given, transactional(0))
    await append(given, a_batch(b"a"))
    await given.log.retainer.delete_before(PARTITION, 1)
    assert (await given.log.head(PARTITION)).stable_end == 1
    assert await committed(given, 1) == []
