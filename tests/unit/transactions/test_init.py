"""InitProducerId: which producer id and epoch a producer gets."""

import pytest
from unit.transactions.given import (
    EPOCH,
    ID,
    LAST,
    NOW,
    ONE,
    TIMEOUT,
    Shell,
    found,
)

from samsa.transactions import (
    AddPartitions,
    Answer,
    EndTransaction,
    Init,
    NeedsId,
    Settings,
    State,
    Transaction,
    TransactionError,
    Unfinished,
)

ONES = frozenset({ONE})
IDLE = [State.EMPTY, State.COMPLETE_COMMIT, State.COMPLETE_ABORT]


def test_a_new_id_gets_a_fresh_producer_id_and_epoch_0():
    shell = Shell()
    assert shell.once(Init(TIMEOUT)) == NeedsId()
    assert shell.transaction is None
    assert shell.once(Init(TIMEOUT, fresh_id=0)) == Answer(None, 0, 0, serial=1)
    assert shell.transaction == Transaction(0, 0, State.EMPTY, 1, TIMEOUT, changed_at=NOW)


def test_a_producer_that_recovers_where_nothing_is_known_gets_a_fresh_id():
    assert Shell().ask(Init(TIMEOUT, ID, EPOCH)) == Answer(None, 100, 0, serial=1)


@pytest.mark.parametrize("state", IDLE)
def test_a_new_producer_gets_the_next_epoch_and_its_own_timeout(state):
    shell = Shell(found(state), now=NOW + 5)
    assert shell.once(Init(TIMEOUT + 1)) == Answer(None, ID, EPOCH + 1, serial=3)
    after = found(
        State.EMPTY, epoch=EPOCH + 1, last_epoch=-1, timeout_ms=TIMEOUT + 1, changed_at=NOW + 5
    )
    assert shell.transaction == after


@pytest.mark.parametrize("state", IDLE)
def test_a_producer_that_recovers_gets_the_next_epoch_and_may_repeat_that(state):
    shell = Shell(found(state))
    recover = Init(TIMEOUT, ID, EPOCH)
    assert shell.once(recover) == Answer(None, ID, EPOCH + 1, serial=3)
    again = shell.transaction
    assert shell.once(recover) == Answer(None, ID, EPOCH + 1, serial=3)
    assert shell.transaction is again


def test_a_repeated_recovery_may_change_the_timeout():
    shell = Shell(found(State.EMPTY))
    assert shell.once(Init(TIMEOUT + 1, ID, EPOCH - 1)) == Answer(None, ID, EPOCH, serial=3)
    assert shell.transaction == found(State.EMPTY, timeout_ms=TIMEOUT + 1)


@pytest.mark.parametrize("state", [State.COMPLETE_COMMIT, State.COMPLETE_ABORT])
def test_a_producer_that_recovers_with_the_epoch_before_an_end_has_an_empty_transaction(state):
    shell = Shell(found(state, started_at=NOW))
    assert shell.once(Init(TIMEOUT, ID, EPOCH - 1)) == Answer(None, ID, EPOCH, serial=3)
    assert shell.transaction == found(State.EMPTY)
    commit = EndTransaction(ID, EPOCH, commit=True, bumps=False)
    assert shell.once(commit) == Answer(TransactionError.INVALID_TXN_STATE)


def test_a_recovery_cannot_be_repeated_once_a_new_producer_has_come():
    shell = Shell(found(State.EMPTY))
    shell.once(Init(TIMEOUT, ID, EPOCH))
    shell.once(Init(TIMEOUT))
    for epoch in (EPOCH, EPOCH + 1):
        fenced = Answer(TransactionError.PRODUCER_FENCED)
        assert shell.once(Init(TIMEOUT, ID, epoch)) == fenced


def test_a_new_producer_aborts_what_is_ongoing_and_gets_an_epoch_that_nothing_has_used():
    shell = Shell(found(State.ONGOING))
    assert shell.once(Init(TIMEOUT)) == Unfinished(3)
    assert shell.transaction.state is State.PREPARE_ABORT
    assert shell.transaction.marker_epoch == EPOCH + 1
    assert shell.transaction.partitions == ONES
    assert shell.once(Init(TIMEOUT)) == Unfinished(3)
    assert shell.ask(Init(TIMEOUT)) == Answer(None, ID, EPOCH + 2, serial=4)
    assert shell.markers == [(ID, EPOCH + 1, 3, State.PREPARE_ABORT)]
    for bumps in (True, False):
        late = EndTransaction(ID, EPOCH, commit=False, bumps=bumps)
        assert shell.once(late) == Answer(TransactionError.PRODUCER_FENCED)


def test_a_producer_that_recovers_aborts_its_own_transaction_and_goes_on_with_the_next_epoch():
    shell = Shell(found(State.ONGOING))
    assert shell.ask(Init(TIMEOUT, ID, EPOCH)) == Answer(None, ID, EPOCH + 1, serial=4)
    assert shell.markers == [(ID, EPOCH + 1, 3, State.PREPARE_ABORT)]


def test_a_fenced_producer_that_recovers_does_not_abort_what_another_one_has_begun():
    shell = Shell(found(State.EMPTY))
    shell.once(Init(TIMEOUT))
    shell.once(AddPartitions(ID, EPOCH + 1, ONES))
    ongoing = shell.transaction
    fenced = Answer(TransactionError.PRODUCER_FENCED)
    assert shell.once(Init(TIMEOUT, ID, EPOCH)) == fenced
    assert shell.transaction is ongoing


@pytest.mark.parametrize("state", IDLE)
def test_after_the_last_epoch_a_new_producer_gets_a_fresh_producer_id(state):
    exhausted = found(state, epoch=LAST, last_epoch=LAST - 1)
    shell = Shell(exhausted)
    assert shell.once(Init(TIMEOUT)) == NeedsId()
    assert shell.transaction is exhausted
    assert shell.once(Init(TIMEOUT, fresh_id=100)) == Answer(None, 100, 0, serial=3)
    after = found(State.EMPTY, producer_id=100, epoch=0, last_epoch=-1)
    assert shell.transaction == after
    assert shell.once(Init(TIMEOUT, ID, LAST)) == Answer(TransactionError.PRODUCER_FENCED)


def test_a_recovery_that_replaced_the_producer_id_may_be_repeated():
    shell = Shell(found(State.EMPTY, epoch=LAST))
    recover = Init(TIMEOUT, ID, LAST)
    assert shell.ask(recover) == Answer(None, 100, 0, serial=3)
    assert shell.ask(recover) == Answer(None, 100, 0, serial=3)
    assert shell.ask(Init(TIMEOUT, ID, LAST - 1)) == Answer(TransactionError.PRODUCER_FENCED)


def test_a_recovery_that_got_the_last_epoch_may_be_repeated():
    """In Kafka it gets UNKNOWN_SERVER_ERROR."""
    exhausted = found(State.EMPTY, epoch=LAST, last_epoch=LAST - 1)
    shell = Shell(exhausted)
    assert shell.once(Init(TIMEOUT, ID, LAST - 1)) == Answer(None, ID, LAST, serial=3)
    assert shell.transaction is exhausted


def test_a_longer_timeout_can_be_allowed():
    shell = Shell(settings=Settings(max_timeout_ms=1_000_000))
    assert shell.ask(Init(1_000_000)).error is None
    too_long = Answer(TransactionError.INVALID_TRANSACTION_TIMEOUT)
    assert shell.ask(Init(1_000_001)) == too_long


def test_the_producer_id_before_the_last_change_is_known_and_no_older_one():
    shell = Shell(found(State.EMPTY, epoch=LAST, last_producer_id=-1))
    shell.ask(Init(TIMEOUT))
    assert (shell.transaction.producer_id, shell.transaction.last_producer_id) == (100, ID)
    shell.ask(AddPartitions(100, 0, ONES))
    assert (shell.transaction.producer_id, shell.transaction.last_producer_id) == (100, 100)
