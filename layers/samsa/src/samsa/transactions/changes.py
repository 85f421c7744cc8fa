"""The changes of a transaction: begun or joined, decided, completed."""

from dataclasses import replace
from typing import Any

from .state import COMPLETED, MOST_EPOCH, State, Transaction


def changed(before: Transaction, now_ms: int, **values: Any) -> Transaction:
    return replace(before, last_producer_id=before.producer_id, changed_at=now_ms, **values)


def ongoing(before: Transaction, now_ms: int, **values: Any) -> Transaction:
    """If it was ongoing and the clock has been set back since, it starts now: a deadline never lies
    further ahead than the timeout."""
    is_ongoing = before.state is State.ONGOING
    started_at = min(before.started_at, now_ms) if is_ongoing else now_ms
    return changed(before, now_ms, state=State.ONGOING, started_at=started_at, **values)


def ended(before: Transaction, decision: State, now_ms: int) -> Transaction:
    """Decided without a bump of the epoch ("transaction version 1")."""
    return changed(before, now_ms, state=decision)


def bumped(
    before: Transaction, decision: State, now_ms: int, fresh_id: int = -1
) -> Transaction | None:
    """Decided with a bump of the epoch. None: that needs a fresh id.

    The markers carry the new epoch, so late batches of the old one are refused behind them.
    """
    if before.is_exhausted and fresh_id < 0:
        return None
    return changed(
        before,
        now_ms,
        state=decision,
        epoch=min(before.epoch + 1, MOST_EPOCH),
        last_epoch=before.epoch,
        next_producer_id=fresh_id if before.is_exhausted else -1,
        started_at=before.started_at if before.state is State.ONGOING else now_ms,
    )


def completed(before: Transaction, now_ms: int) -> Transaction:
    producer_id, epoch = before.for_client
    return changed(
        before,
        now_ms,
        state=COMPLETED[before.state],
        producer_id=producer_id,
        epoch=epoch,
        serial=before.serial + 1,
        partitions=frozenset(),
        groups=frozenset(),
        next_producer_id=-1,
    )
