"""One round: a new topic, clients that use it, signals meanwhile, and a last look at all of it."""

import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import TypeVar

from histories.client import Client
from histories.cluster import Pair
from histories.nemesis import Nemesis
from histories.recording import History, NoAnswer
from histories.session import Session
from server.talk import create

CLIENTS = 8
PARTITIONS = 4
PACE_S = 0.01
PATIENCE_S = (1.5, 1.5, 25.0, 25.0)
"""Of the clients in turn, until an operation is unknown. Some wait for a process that is stopped,
and so learn what it answers when it goes on."""
ANSWERED_S = 60
"""All processes run in the end: by then each of them answers."""

T = TypeVar("T")


@dataclass(frozen=True)
class Played:
    history: History
    signals: Counter[str]


def play(
    both: Pair, path: Path, moments: random.Random, seconds: float, *, sleeps: bool = False
) -> Played:
    """`sleeps`: some stops are longer than any other process waits for anything."""
    with both[0].peer() as peer:
        create(peer, path.stem, PARTITIONS)
    history = History(path)
    addresses = [samsa.address for samsa in both]
    *sessions, last = [
        Session(number, CLIENTS + 1, history, path.stem, addresses, patience_s)
        for number, patience_s in zip(range(CLIENTS + 1), cycle(PATIENCE_S), strict=False)
    ]
    try:
        signals = disturb(both, sessions, path, moments, seconds, sleeps)
        look_at_all(last)
    finally:
        history.close()
    return Played(history, signals)


def disturb(
    both: Pair,
    sessions: list[Session],
    path: Path,
    moments: random.Random,
    seconds: float,
    sleeps: bool,
) -> Counter[str]:
    clients = [
        Client(
            session,
            moments.randrange(10**9),
            partitions=PARTITIONS,
            pace_s=PACE_S,
            idempotent=number % 2 == 0,
        )
        for number, session in enumerate(sessions)
    ]
    log = path.with_suffix(".signals")
    nemeses = [
        Nemesis(number, samsa, moments.randrange(10**9), log, sleeps=sleeps)
        for number, samsa in enumerate(both)
    ]
    running: list[Client | Nemesis] = [*clients, *nemeses]
    with ExitStack() as stack:
        for one in running:
            stack.callback(one.finish)
        for one in running:
            stack.callback(one.stop)  # all of them before the first is waited for
        time.sleep(seconds)
    return nemeses[0].counts + nemeses[1].counts


def look_at_all(session: Session) -> None:
    """Append once more to each partition, and read all of it from both processes. Whatever was
    acknowledged before lies below, and so has to be there."""
    ends = [1 + retry(partial(append_one, session, each)) for each in range(PARTITIONS)]
    for partition, wanted in enumerate(ends):
        for _ in range(2):
            read_all(session, partition, wanted)
            session.move_on()


def append_one(session: Session, partition: int) -> int:
    return session.append(partition, session.new_values())


def read_all(session: Session, partition: int, end: int) -> None:
    """Up to an end that was acknowledged. If nothing is read below it, the judge says so."""
    offset, through = -1, 0
    while offset < through < end:
        offset = through
        got = retry(partial(session.read, partition, offset, max_bytes=1 << 20))
        through = got["through"]


def retry(ask: Callable[[], T]) -> T:
    """All processes run: whoever gets no answer asks again."""
    deadline = time.monotonic() + ANSWERED_S
    while True:
        try:
            return ask()
        except (NoAnswer, OSError):
            assert time.monotonic() < deadline, "nobody answers"
            time.sleep(0.1)
