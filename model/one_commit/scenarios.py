"""Who takes part: a few processes each time, and every interleaving of their steps."""

from __future__ import annotations

from typing import NamedTuple

from one_commit.finisher import Finisher
from one_commit.processes import Process
from one_commit.upkeep import Evictor, Reader, Settler, Sweeper
from one_commit.writer import Writer

FIRST, SECOND = ("transaction", 1), ("transaction", 2)


class Scenario(NamedTuple):
    title: str
    processes: tuple[Process, ...]
    versions: tuple[int, ...] = (2,)


def _idempotent(number: int, copy: int = 0, in_object: bool = False) -> Writer:
    return Writer(("idempotent", number), number, copy, in_object)


BOTH = (2, 1)
SCENARIOS = {
    "objects": Scenario(
        "plain appends with objects, settling, sweeping, a reader",
        (
            Writer(("plain", 1), in_object=True),
            Writer(("plain", 2), in_object=True),
            Settler(),
            Sweeper(),
            Reader(),
        ),
    ),
    "copies": Scenario(
        "an idempotent producer through two processes",
        (_idempotent(0), _idempotent(0, 1), _idempotent(1), Settler(), Evictor()),
    ),
    "evictors": Scenario(
        "an idempotent producer, two evictors",
        (_idempotent(0), _idempotent(1), _idempotent(1, 1), Evictor(), Evictor()),
    ),
    "everything": Scenario(
        "an idempotent producer with objects, settling, eviction, sweeping",
        (
            _idempotent(0, in_object=True),
            _idempotent(0, 1, in_object=True),
            Settler(),
            Evictor(),
            Sweeper(),
        ),
    ),
    "ends": Scenario(
        "a transaction, a late copy of its batch, two processes that end it",
        (Writer(FIRST, 0), Writer(FIRST, 0, 1), Finisher("client"), Finisher("timer")),
        BOTH,
    ),
    "late": Scenario(
        "two transactions, a late copy of the first one's batch",
        (Writer(FIRST, 0), Writer(FIRST, 0, 1), Writer(SECOND, 0, step="wait"), Finisher("client")),
        BOTH,
    ),
    "evicted": Scenario(
        "a transaction, a late copy of its batch, eviction",
        (Writer(FIRST, 0), Writer(FIRST, 0, 1), Finisher("client"), Evictor()),
        BOTH,
    ),
    "two": Scenario(
        "two transactions, two processes that end them",
        (Writer(FIRST, 0), Writer(SECOND, 0, step="wait"), Finisher("client"), Finisher("timer")),
        BOTH,
    ),
}

RULES = {
    "claim": "evictors",
    "sweep-count": "objects",
    "eviction-count": "copies",
    "evict-forward": "evictors",
    "fence": "objects",
    "list-first": "objects",
    "head-first": "objects",
    "verify": "ends",
    "marker-claims": "ends",
}
"""Each rule, and the scenario in which its absence is noticed first."""
