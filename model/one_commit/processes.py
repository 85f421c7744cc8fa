"""What every process of the model is: its state, and the steps that it can take next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from one_commit.store import Store, Update


class Setting(NamedTuple):
    version: int = 2
    """Of transactions: 2 starts a new epoch with each end (KIP-890)."""
    broken: frozenset[str] = frozenset()
    """Rules that are left out."""


class Step(NamedTuple):
    name: str
    store: Store
    process: Process
    late: Update | None = None
    """An update that was sent, and arrives at any time from now on, or never."""


class Process(Protocol):
    def steps(self, store: Store, late: tuple[Update, ...], setting: Setting) -> Iterator[Step]:
        """One store call each. None if it waits for something, or is done."""
        ...


def is_late(update: Update, late: tuple[Update, ...]) -> bool:
    return any(other.id == update.id for other in late)
