"""Transactions that are aborted without their producer: time is up, or an administrator says so."""

import pytest
from unit.transactions.given import EPOCH, ID, LAST, NOW, ONE, TIMEOUT, TWO, Shell, found

from samsa.transactions import (
    Abort,
    AddPartitions,
    Answer,
    EndTransaction,
    Expire,
    NeedsId,
    State,
    TransactionError,
    Unfinished,
)

DUE = NOW + TIMEOUT
FENCED = Answer(TransactionError.PRODUCER_FENCED)
both = pytest.mark.parametrize("request_", [Expire(), Abort()], ids=["expire", "abort"])


def test_a_transaction_is_aborted_when_its_time_is_up_and_not_before():
    ongoing = found(State.ONGOING)
    shell = Shell(ongoing, now=DUE - 1)
    assert shell.once(Expire()).error is None
    assert shell.transaction is ongoing
    shell.now = DUE
    assert shell.once(Expire()) == Answer(None, ID, EPOCH + 1, serial=3)
    assert shell.transaction.state is State.PREPARE_ABORT


def test_an_administrator_aborts_a_transaction_of_any_age():
    shell = Shell(found(State.ONGOING))
    assert shell.once(Abort()) == Answer(None, ID, EPOCH + 1, serial=3)
    assert shell.transaction.state is State.PREPARE_ABORT


@both
def test_the_producer_is_fenced_by_the_markers_and_by_the_coordinator(request_):
    shell = Shell(found(State.ONGOING), now=DUE)
    assert shell.ask(request_).error is None
    assert shell.markers == [(ID, EPOCH + 1, 3, State.PREPARE_ABORT)]
    assert shell.once(AddPartitions(ID, EPOCH, frozenset({TWO}))) == FENCED
    for commit in (True, False):
        assert shell.once(EndTransaction(ID, EPOCH, commit, bumps=False)) == FENCED


@both
def test_a_producer_that_bumps_epochs_learns_of_it_and_goes_on_after_an_abort(request_):
    """As in Kafka 4.3: what it sends looks like a retry."""
    shell = Shell(found(State.ONGOING), now=DUE)
    shell.ask(request_)
    wrong = Answer(TransactionError.INVALID_TXN_STATE)
    assert shell.once(EndTransaction(ID, EPOCH, commit=True, bumps=True)) == wrong
    abort = EndTransaction(ID, EPOCH, commit=False, bumps=True)
    assert shell.once(abort) == Answer(None, ID, EPOCH + 1, serial=3)


@both
def test_after_the_last_epoch_the_abort_replaces_the_producer_id(request_):
    shell = Shell(found(State.ONGOING, epoch=LAST), now=DUE)
    assert shell.once(request_) == NeedsId()
    assert shell.ask(request_) == Answer(None, 100, 0, serial=3)
    assert shell.markers == [(ID, LAST + 1, 3, State.PREPARE_ABORT)]
    assert (shell.transaction.producer_id, shell.transaction.epoch) == (100, 0)


@both
@pytest.mark.parametrize("state", [State.PREPARE_COMMIT, State.PREPARE_ABORT])
def test_what_is_decided_has_to_be_finished_and_is_not_aborted(request_, state):
    decided = found(state)
    shell = Shell(decided, now=DUE)
    assert shell.once(request_) == Unfinished(3)
    assert shell.transaction is decided


@pytest.mark.parametrize("state", [State.EMPTY, State.COMPLETE_COMMIT, State.COMPLETE_ABORT])
def test_where_nothing_is_ongoing_nothing_expires_and_nothing_can_be_aborted(state):
    idle = found(state)
    shell = Shell(idle, now=DUE)
    assert shell.once(Expire()).error is None
    assert shell.once(Abort()) == Answer(TransactionError.INVALID_TXN_STATE)
    assert shell.transaction is idle


def test_an_unknown_id_has_nothing_to_expire_and_cannot_be_aborted():
    shell = Shell()
    assert shell.once(Expire()) == Answer(None)
    assert shell.once(Abort()) == Answer(TransactionError.TRANSACTIONAL_ID_NOT_FOUND)
    assert shell.transaction is None


def test_after_the_clock_was_set_back_a_transaction_ends_its_timeout_later_at_most():
    shell = Shell(found(State.ONGOING), now=NOW - 3_600_000)
    assert shell.once(Expire()).error is None
    assert shell.transaction.state is State.ONGOING
    assert shell.transaction.expires_at == shell.now + TIMEOUT
    shell.now += TIMEOUT - 1
    shell.once(Expire())
    assert shell.transaction.state is State.ONGOING
    shell.now += 1
    shell.once(Expire())
    assert shell.transaction.state is State.PREPARE_ABORT


def test_a_clock_that_is_a_little_behind_that_of_the_producers_process_changes_nothing():
    shell = Shell(found(State.ONGOING), now=NOW - 1_000)
    before = shell.transaction
    assert shell.once(Expire()).error is None
    assert shell.transaction == before


def test_a_partition_that_is_added_after_the_clock_was_set_back_brings_the_deadline_nearer():
    shell = Shell(found(State.ONGOING), now=NOW - 3_600_000)
    shell.once(AddPartitions(ID, EPOCH, frozenset({ONE, TWO})))
    assert shell.transaction.expires_at == shell.now + TIMEOUT
