"""The end of a transaction, its retries, and what completes it."""

import pytest
from unit.transactions.given import EPOCH, ID, LAST, NOW, ONE, TIMEOUT, Shell, found

from samsa.transactions import (
    AddPartitions,
    Answer,
    Complete,
    EndTransaction,
    Init,
    NeedsId,
    State,
    TransactionError,
    Unfinished,
)

ONES = frozenset({ONE})
DECISIONS = {True: State.PREPARE_COMMIT, False: State.PREPARE_ABORT}
COMPLETIONS = {True: State.COMPLETE_COMMIT, False: State.COMPLETE_ABORT}
either = pytest.mark.parametrize("commit", [True, False])
WRONG = Answer(TransactionError.INVALID_TXN_STATE)


@either
def test_without_a_bump_the_epoch_and_its_history_stay(commit):
    shell = Shell(found(State.ONGOING), now=NOW + 9)
    end = EndTransaction(ID, EPOCH, commit, bumps=False)
    assert shell.once(end) == Answer(None, ID, EPOCH, serial=3)
    assert shell.transaction == found(DECISIONS[commit], changed_at=NOW + 9)
    assert shell.transaction.marker_epoch == EPOCH


@either
def test_with_a_bump_the_markers_and_the_answer_have_the_next_epoch(commit):
    shell = Shell(found(State.ONGOING), now=NOW + 9)
    end = EndTransaction(ID, EPOCH, commit, bumps=True)
    assert shell.once(end) == Answer(None, ID, EPOCH + 1, serial=3)
    decided = found(DECISIONS[commit], epoch=EPOCH + 1, last_epoch=EPOCH, changed_at=NOW + 9)
    assert shell.transaction == decided
    assert shell.transaction.marker_epoch == EPOCH + 1


@either
@pytest.mark.parametrize("bumps", [True, False])
def test_an_end_that_meets_its_own_decision_waits_for_it_and_succeeds(commit, bumps):
    shell = Shell(found(State.ONGOING))
    end = EndTransaction(ID, EPOCH, commit, bumps)
    shell.once(end)
    decided = shell.transaction
    assert shell.once(end) == Unfinished(3)
    assert shell.transaction is decided
    assert shell.ask(end) == Answer(None, ID, EPOCH + bumps, serial=3)
    assert shell.transaction.state is COMPLETIONS[commit]


@either
@pytest.mark.parametrize("bumps", [True, False])
def test_an_end_that_is_sent_again_succeeds_and_the_other_one_does_not(commit, bumps):
    shell = Shell(found(State.ONGOING))
    shell.ask(EndTransaction(ID, EPOCH, commit, bumps))
    complete = shell.transaction
    again = EndTransaction(ID, EPOCH, commit, bumps)
    assert shell.once(again) == Answer(None, ID, EPOCH + bumps, serial=3)
    assert shell.once(EndTransaction(ID, EPOCH, not commit, bumps)) == WRONG
    assert shell.transaction is complete


def test_an_end_that_is_sent_again_does_not_end_the_next_transaction():
    shell = Shell(found(State.ONGOING))
    end = EndTransaction(ID, EPOCH, commit=True, bumps=True)
    shell.ask(end)
    shell.ask(AddPartitions(ID, EPOCH + 1, ONES))
    ongoing = shell.transaction
    assert shell.once(end) == Answer(TransactionError.PRODUCER_FENCED)
    assert shell.transaction is ongoing


@pytest.mark.parametrize("state", [State.EMPTY, State.COMPLETE_COMMIT, State.COMPLETE_ABORT])
def test_the_abort_of_an_empty_transaction_bumps_the_epoch_and_leaves_nothing_to_finish(state):
    shell = Shell(found(state), now=NOW + 9)
    abort = EndTransaction(ID, EPOCH, commit=False, bumps=True)
    assert shell.once(abort) == Answer(None, ID, EPOCH + 1, serial=3)
    assert shell.transaction == found(
        State.COMPLETE_ABORT,
        epoch=EPOCH + 1,
        last_epoch=EPOCH,
        serial=4,
        started_at=NOW + 9,
        changed_at=NOW + 9,
    )
    assert shell.once(abort) == Answer(None, ID, EPOCH + 1, serial=3)


@either
def test_completion_empties_the_transaction_and_counts_it(commit):
    shell = Shell(found(DECISIONS[commit]), now=NOW + 9)
    assert shell.once(Complete(3)) == Answer(None, ID, EPOCH, serial=3)
    complete = found(COMPLETIONS[commit], serial=4, started_at=NOW, changed_at=NOW + 9)
    assert shell.transaction == complete


@pytest.mark.parametrize("serial", [2, 4])
def test_completion_of_another_transaction_changes_nothing(serial):
    decided = found(State.PREPARE_COMMIT)
    shell = Shell(decided)
    assert shell.once(Complete(serial)).error is None
    assert shell.transaction is decided


def test_completion_of_what_is_not_decided_changes_nothing():
    for state in (State.EMPTY, State.ONGOING, State.COMPLETE_COMMIT, State.COMPLETE_ABORT):
        before = found(state)
        shell = Shell(before)
        assert shell.once(Complete(3)).error is None
        assert shell.transaction is before
    assert Shell().once(Complete(3)) == Answer(None)


@either
def test_the_end_with_the_last_epoch_replaces_the_producer_id_at_completion(commit):
    exhausted = found(State.ONGOING, epoch=LAST, last_epoch=LAST - 1)
    shell = Shell(exhausted)
    end = EndTransaction(ID, LAST, commit, bumps=True)
    assert shell.once(end) == NeedsId()
    assert shell.transaction is exhausted
    assert shell.once(end._replace(fresh_id=100)) == Answer(None, 100, 0, serial=3)
    decided = shell.transaction
    assert (decided.producer_id, decided.marker_epoch) == (ID, LAST + 1)
    assert (decided.next_producer_id, decided.last_epoch) == (100, LAST)
    shell.finish()
    assert shell.transaction == found(
        COMPLETIONS[commit],
        producer_id=100,
        epoch=0,
        last_epoch=LAST,
        serial=4,
        started_at=NOW,
    )


@either
def test_the_end_that_replaced_the_producer_id_may_be_sent_again(commit):
    shell = Shell(found(State.ONGOING, epoch=LAST))
    end = EndTransaction(ID, LAST, commit, bumps=True)
    assert shell.ask(end) == Answer(None, 100, 0, serial=3)
    assert shell.ask(end) == Answer(None, 100, 0, serial=3)
    assert shell.ask(end._replace(commit=not commit)) == WRONG
    unknown = Answer(TransactionError.INVALID_PRODUCER_ID_MAPPING)
    assert shell.ask(end._replace(bumps=False)) == unknown
    assert shell.ask(end._replace(epoch=LAST - 1)) == unknown
    shell.ask(AddPartitions(100, 0, ONES))
    assert shell.ask(end) == unknown


def test_the_last_epoch_is_kept_by_an_end_without_a_bump():
    shell = Shell(found(State.ONGOING, epoch=LAST))
    end = EndTransaction(ID, LAST, commit=True, bumps=False)
    assert shell.ask(end) == Answer(None, ID, LAST, serial=3)


def test_the_abort_of_an_empty_transaction_with_the_last_epoch_replaces_the_producer_id():
    shell = Shell(found(State.EMPTY, epoch=LAST))
    abort = EndTransaction(ID, LAST, commit=False, bumps=True)
    assert shell.once(abort) == NeedsId()
    assert shell.ask(abort) == Answer(None, 100, 0, serial=3)
    assert shell.ask(abort) == Answer(None, 100, 0, serial=3)


def test_the_last_end_of_a_producer_id_that_was_replaced_is_not_taken_for_a_later_one():
    shell = Shell(found(State.ONGOING, epoch=LAST))
    end = EndTransaction(ID, LAST, commit=True, bumps=True)
    shell.ask(end)
    shell.ask(AddPartitions(100, 0, ONES))
    shell.ask(EndTransaction(100, 0, commit=True, bumps=False))
    assert (shell.transaction.state, shell.transaction.epoch) == (State.COMPLETE_COMMIT, 0)
    assert shell.ask(end) == Answer(TransactionError.INVALID_PRODUCER_ID_MAPPING)


def test_a_fresh_id_that_is_not_needed_is_not_used():
    shell = Shell(found(State.ONGOING))
    end = EndTransaction(ID, EPOCH, commit=True, bumps=True, fresh_id=100)
    assert shell.ask(end) == Answer(None, ID, EPOCH + 1, serial=3)
    assert shell.transaction.producer_id == ID


@either
def test_a_fenced_producer_that_bumps_epochs_does_not_learn_that_of_a_new_one_that_does_not(commit):
    """In Kafka its end looks as if it was sent again."""
    shell = Shell(found(State.EMPTY))
    shell.ask(Init(TIMEOUT))
    shell.ask(AddPartitions(ID, EPOCH + 1, ONES))
    shell.ask(EndTransaction(ID, EPOCH + 1, commit, bumps=False))
    late = EndTransaction(ID, EPOCH, commit, bumps=True)
    assert shell.ask(late) == Answer(TransactionError.PRODUCER_FENCED)


def test_a_producer_without_an_epoch_is_not_told_that_of_a_new_one():
    shell = Shell(found(State.COMPLETE_COMMIT, last_epoch=-1))
    nobody = EndTransaction(ID, -1, commit=True, bumps=True)
    assert shell.ask(nobody) == Answer(TransactionError.PRODUCER_FENCED)
