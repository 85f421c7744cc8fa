"""Rules to take out of the log, one at a time."""

from collections.abc import Callable
from typing import NamedTuple

from samsa.log.core import Log

from .ledger import SimLedger
from .objects import SimObjects


def untouched(log: Log) -> None:
    """The log as it is."""


class Rules(NamedTuple):
    break_log: Callable[[Log], None] = untouched
    ledger: type[SimLedger] = SimLedger
    objects: type[SimObjects] = SimObjects


SOUND = Rules()
