"""Who takes part: a few processes each time, and every interleaving of their steps."""

from __future__ import annotations

from typing import NamedTuple

from one_commit.finisher import Finisher
from one_commit.processes import Process
from one_commit.readers import Reader
from one_commit.upkeep import Evictor, Settler, Sweeper
from one_commit.writer import Writer


class Scenario(NamedTuple):
    title: str
    processes: tuple[Process, ...]
    versions: tuple[int, ...] = (2,)


def _idempotent(number: int, copy: int = 0, in_object: bool = False) -> Writer:
    return Writer(("idempotent", number), number, copy, in_object)


def _first(copy: int = 0) -> Writer:
    """The batch of the first transaction."""
    return Writer(("transaction", 1), 0, copy, step="look")


def _second() -> Writer:
    return Writer(("transaction", 2), 0, step="begin")


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
        (_first(), _first(1), Finisher("client"), Finisher("timer")),
        BOTH,
    ),
    "late": Scenario(
        "two transactions, a late copy of the first one's batch",
        (_first(), _first(1), _second(), Finisher("client")),
        BOTH,
    ),
    "evicted": Scenario(
        "a transaction, a late copy of its batch, eviction",
        (_first(), _first(1), Finisher("client"), Evictor()),
        BOTH,
    ),
    "two": Scenario(
        "two transactions, two processes that end them",
        (_first(), _second(), Finisher("client"), Finisher("timer")),
        BOTH,
    ),
    "evicted-open": Scenario(
        "two transactions, eviction while they are open",
        (_first(), _second(), Finisher("client"), Evictor()),
        BOTH,
    ),
    "readers": Scenario(
        "a transaction, settling, a reader of committed data",
        (_first(), Finisher("client"), Settler(), Reader(reads_committed=True)),
        BOTH,
    ),
}


class Rule(NamedTuple):
    scenario: str
    """The one in which its absence is noticed first."""
    version: int = 2


RULES = {
    "claim": Rule("evictors"),
    "sweep-count": Rule("objects"),
    "eviction-count": Rule("copies"),
    "evict-forward": Rule("evictors"),
    "fence": Rule("objects"),
    "list-first": Rule("objects"),
    "head-first": Rule("objects"),
    "verify": Rule("ends"),
    "serial": Rule("ends", 1),
    "marker-claims": Rule("ends"),
    "aborted-first": Rule("readers"),
}
