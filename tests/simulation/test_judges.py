"""The judges of transactions object to what they are there for."""

from types import SimpleNamespace
from uuid import UUID

import pytest
from simulation.committed import Kind, Sections, Seen
from simulation.decisions import Decisions, Label
from simulation.violation import Violation

from samsa.ports import Aborted, End, Partition
from samsa.transactions import State, Transaction, pack

PARTITION = Partition(UUID(int=1), 0)
FIRST = Label("client", 0)
PRODUCER, CRC = 7, 1234


def sections(*aborted: Aborted, open_here: dict[int, int] | None = None) -> Sections:
    """Of a log: a batch at 0 that is aborted at 1, and one at 2 that is committed at 3."""
    found = Sections(
        SimpleNamespace(
            open=open_here or {},
            log_start=0,
            aborted_to=2,
            all_aborted=lambda: set(aborted),
        )
    )
    kinds = (Kind.DATA, Kind.ABORT, Kind.DATA, Kind.COMMIT)
    for offset, kind in enumerate(kinds):
        found.appears(Seen(kind, PRODUCER, offset, offset + 1))
    return found


RIGHT = Aborted(1, PRODUCER, 0, 1)


def test_a_reader_that_is_told_what_was_aborted_gets_the_rest():
    right = sections(RIGHT)
    right.agree()
    right.readable(4)


def test_a_reader_that_is_not_told_of_an_aborted_transaction_gets_its_batches():
    with pytest.raises(Violation, match="a reader delivers 0"):
        sections().readable(4)
    with pytest.raises(Violation, match="aborted are"):
        sections().agree()


def test_a_reader_that_is_told_of_the_wrong_transaction_misses_batches():
    with pytest.raises(Violation, match="a reader skips 2"):
        sections(RIGHT, Aborted(3, PRODUCER, 2, 1)).readable(4)


def test_a_transaction_that_begins_before_a_stable_offset_is_objected_to():
    with pytest.raises(Violation, match="begins before 3"):
        sections(Aborted(1, PRODUCER, 0, 3))


def test_a_head_with_an_open_transaction_that_has_ended_is_objected_to():
    with pytest.raises(Violation, match="are open"):
        sections(RIGHT, open_here={PRODUCER: 0}).agree()


def test_the_marker_of_a_listed_transaction_stays():
    with pytest.raises(Violation, match="its transaction is listed"):
        sections(RIGHT).compacted(0, 2, {0})


def decisions(state: State, serial: int = 1) -> Decisions:
    """Of a transaction in that state, which has the partition."""
    found = Decisions()
    found.belongs(CRC, FIRST)
    change(found, State.ONGOING, serial)
    if state is not State.ONGOING:
        change(found, state, serial)
    return found


def change(found: Decisions, state: State, serial: int = 1) -> None:
    partitions = frozenset([tuple(PARTITION)])
    found.stored("t", pack(Transaction(PRODUCER, 0, state, serial, 1_000, partitions)))


def test_a_batch_that_comes_after_the_marker_is_objected_to():
    found = decisions(State.PREPARE_ABORT)
    found.marked(PARTITION, PRODUCER, End.ABORT)
    with pytest.raises(Violation, match="comes after the marker"):
        found.appended(PARTITION, PRODUCER, CRC)


def in_the_next(version: int) -> Decisions:
    """A client's first transaction is over, with its batch, and the next one is ongoing."""
    found = decisions(State.ONGOING)
    found.belongs(CRC, FIRST, version)
    found.appended(PARTITION, PRODUCER, CRC)
    change(found, State.PREPARE_ABORT)
    found.marked(PARTITION, PRODUCER, End.ABORT)
    change(found, State.COMPLETE_ABORT, 2)
    change(found, State.ONGOING, 2)
    return found


def test_a_batch_in_the_next_transaction_is_objected_to():
    with pytest.raises(Violation, match="gets into"):
        in_the_next(version=2).appended(PARTITION, PRODUCER, CRC)


def test_with_version_1_it_is_objected_to_if_the_next_transaction_is_committed():
    found = in_the_next(version=1)
    found.appended(PARTITION, PRODUCER, CRC)
    with pytest.raises(Violation, match="batches of another"):
        change(found, State.PREPARE_COMMIT, 2)
    found = in_the_next(version=1)
    change(found, State.PREPARE_COMMIT, 2)
    with pytest.raises(Violation, match="gets into"):
        found.appended(PARTITION, PRODUCER, CRC)
    found = in_the_next(version=1)
    found.appended(PARTITION, PRODUCER, CRC)
    change(found, State.PREPARE_ABORT, 2)


def test_a_marker_without_a_decision_is_objected_to():
    with pytest.raises(Violation, match="a marker in 0"):
        decisions(State.ONGOING).marked(PARTITION, PRODUCER, End.COMMIT)


def test_a_transaction_that_is_complete_without_its_markers_is_objected_to():
    found = decisions(State.PREPARE_ABORT)
    with pytest.raises(Violation, match="is complete, but not in"):
        change(found, State.COMPLETE_ABORT, 2)


def test_a_commit_that_its_client_has_not_asked_for_is_objected_to():
    found = decisions(State.ONGOING)
    found.appended(PARTITION, PRODUCER, CRC)
    with pytest.raises(Violation, match="has not asked for it"):
        change(found, State.PREPARE_COMMIT)


def test_a_transaction_that_is_never_finished_is_objected_to():
    with pytest.raises(Violation, match="never finished"):
        decisions(State.ONGOING).finished([], [])
