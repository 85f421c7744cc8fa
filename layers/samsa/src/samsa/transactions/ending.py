"""The end of a transaction.

The tables say what a commit and an abort do in each state. They read beside the table in Kafka's
TransactionCoordinator. A decided transaction is finished before any request is judged, so its
states are not in the tables.

With the bump of KIP-890 the client's epoch tells apart the end of the next transaction and an end
that was sent again because its answer was lost: that one has the epoch before the current one.
"""

from typing import TypeAlias

from .changes import bumped, completed, ended, ongoing
from .errors import TransactionError
from .replies import NeedsId, Step, granted, refused
from .requests import Abort, EndTransaction, Expire
from .settings import Settings
from .state import State, Transaction

Outcome: TypeAlias = State | TransactionError | None
"""A decision; or an error; or None for success without a change."""
Outcomes: TypeAlias = dict[State, tuple[Outcome, Outcome]]
"""The outcome of a commit, and the outcome of an abort."""

_WRONG = TransactionError.INVALID_TXN_STATE
_COMMIT, _ABORT = State.PREPARE_COMMIT, State.PREPARE_ABORT

WITHOUT_BUMP: Outcomes = {
    State.EMPTY: (_WRONG, _WRONG),
    State.ONGOING: (_COMMIT, _ABORT),
    State.COMPLETE_COMMIT: (None, _WRONG),
    State.COMPLETE_ABORT: (_WRONG, None),
}
CURRENT_EPOCH: Outcomes = {
    State.EMPTY: (_WRONG, _ABORT),
    State.ONGOING: (_COMMIT, _ABORT),
    State.COMPLETE_COMMIT: (_WRONG, _ABORT),
    State.COMPLETE_ABORT: (_WRONG, _ABORT),
}
EPOCH_BEFORE: Outcomes = {
    State.COMPLETE_COMMIT: (None, _WRONG),
    State.COMPLETE_ABORT: (_WRONG, None),
}


def end(found: Transaction, request: EndTransaction, now_ms: int, _: Settings) -> Step:
    outcomes = _outcomes(found, request)
    if isinstance(outcomes, TransactionError):
        return refused(found, outcomes)
    outcome = outcomes[found.state][0 if request.commit else 1]
    if isinstance(outcome, TransactionError):
        return refused(found, outcome)
    if outcome is None:
        return granted(found, found.serial - 1)
    return _decide(found, outcome, request, now_ms)


def _decide(found: Transaction, decision: State, request: EndTransaction, now_ms: int) -> Step:
    if not request.bumps:
        return granted(ended(found, decision, now_ms))
    after = bumped(found, decision, now_ms, request.fresh_id)
    if after is None:
        return Step(found, NeedsId())
    if found.state is not State.ONGOING:  # nothing was begun, so there is nothing to finish
        return granted(completed(after, now_ms), found.serial)
    return granted(after)


def _outcomes(found: Transaction, request: EndTransaction) -> Outcomes | TransactionError:
    if request.bumps and _is_sent_again(found, request):
        return EPOCH_BEFORE
    if request.producer_id != found.producer_id:
        return TransactionError.INVALID_PRODUCER_ID_MAPPING
    if request.epoch != found.epoch:
        return TransactionError.PRODUCER_FENCED
    return CURRENT_EPOCH if request.bumps else WITHOUT_BUMP


def _is_sent_again(found: Transaction, request: EndTransaction) -> bool:
    """Whether its first copy ended the transaction, and bumped the epoch or replaced the id."""
    named = (request.producer_id, request.epoch)
    return named == found.before and found.state in EPOCH_BEFORE


def expire(found: Transaction, request: Expire, now_ms: int, _: Settings) -> Step:
    if found.state is not State.ONGOING:
        return granted(found)
    if found.begins_after(now_ms):
        return granted(ongoing(found, now_ms))
    return _abort(found, request.fresh_id, now_ms) if found.expires_at <= now_ms else granted(found)


def abort(found: Transaction, request: Abort, now_ms: int, _: Settings) -> Step:
    if found.state is not State.ONGOING:
        return refused(found, TransactionError.INVALID_TXN_STATE)
    return _abort(found, request.fresh_id, now_ms)


def _abort(found: Transaction, fresh_id: int, now_ms: int) -> Step:
    aborted = bumped(found, State.PREPARE_ABORT, now_ms, fresh_id)
    return Step(found, NeedsId()) if aborted is None else granted(aborted)
