"""What is stored for a transactional id."""

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias
from uuid import UUID

Partitions: TypeAlias = frozenset[tuple[UUID, int]]

MOST_EPOCH = 32_767
"""Only markers carry it: clients are given epochs below it, so each of them can be fenced."""
EXHAUSTED_EPOCH = MOST_EPOCH - 1
"""The last epoch that a client uses. The next one is epoch 0 of a new producer id."""
SKEW_MS = 1_000
"""A transaction that begins no further ahead than this was begun by a clock that is a little
before this one. Further ahead: the clock was set back."""


class State(Enum):
    """By Kafka's names."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"


COMPLETED = {
    State.PREPARE_COMMIT: State.COMPLETE_COMMIT,
    State.PREPARE_ABORT: State.COMPLETE_ABORT,
}


@dataclass(frozen=True, slots=True)
class Transaction:
    producer_id: int
    epoch: int
    """What the client must use now. Where the end of a transaction bumps it, the decision does."""
    state: State
    serial: int
    """Of the transaction that is ongoing or decided; otherwise of the one that begins next. The
    first is 1."""
    timeout_ms: int
    partitions: Partitions = frozenset()
    groups: frozenset[str] = frozenset()
    started_at: int = -1
    """Milliseconds. It stays when the transaction is complete, as Kafka shows it; −1 after Init."""
    changed_at: int = -1
    last_producer_id: int = -1
    """The producer id before the last change: another one only just after the id was replaced."""
    last_epoch: int = -1
    """The epoch before the current one, of the same client. −1: a new producer has come."""
    next_producer_id: int = -1
    """Of a decided transaction: the producer id from its completion on, because the epochs of the
    current one are exhausted."""

    @property
    def is_decided(self) -> bool:
        """Its markers and offsets have to be written, and then it is completed."""
        return self.state in COMPLETED

    @property
    def is_exhausted(self) -> bool:
        return self.epoch >= EXHAUSTED_EPOCH

    @property
    def expires_at(self) -> int:
        return self.started_at + self.timeout_ms

    def begins_after(self, now_ms: int) -> bool:
        """Whether the clock was set back since."""
        return self.started_at > now_ms + SKEW_MS

    @property
    def marker_epoch(self) -> int:
        """What the markers of a decided transaction carry."""
        return self.epoch

    @property
    def before(self) -> tuple[int, int] | None:
        """The producer id and the epoch that the client had before, and may still have: the answer
        was lost that had the current ones. None: a new producer has come."""
        return (self.last_producer_id, self.last_epoch) if self.last_epoch >= 0 else None

    @property
    def for_client(self) -> tuple[int, int]:
        """The producer id and the epoch of the client's next transaction."""
        if self.next_producer_id >= 0:
            return self.next_producer_id, 0
        return self.producer_id, self.epoch
