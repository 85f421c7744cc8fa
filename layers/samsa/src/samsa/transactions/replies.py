"""What a step returns."""

from typing import NamedTuple

from .errors import TransactionError
from .state import Transaction


class Answer(NamedTuple):
    error: TransactionError | None
    producer_id: int = -1
    epoch: int = -1
    """With `producer_id`: what the client uses from now on. Both are −1 with an error."""
    serial: int = 0
    """Of the transaction that was asked for: the one that is ongoing, or that was ended."""


class NeedsId(NamedTuple):
    """The step needs a producer id that is new: ask again with `fresh_id`."""


class Unfinished(NamedTuple):
    """A decided transaction has to be finished first. Then ask again."""

    serial: int


class Step(NamedTuple):
    transaction: Transaction | None
    """The same object that was passed in, if there is nothing to write."""
    answer: Answer | NeedsId | Unfinished


def refused(transaction: Transaction | None, error: TransactionError) -> Step:
    return Step(transaction, Answer(error))


def granted(transaction: Transaction, serial: int | None = None) -> Step:
    """`serial`: if it is not the one that the transaction has after the step."""
    producer_id, epoch = transaction.for_client
    found = transaction.serial if serial is None else serial
    return Step(transaction, Answer(None, producer_id, epoch, found))
