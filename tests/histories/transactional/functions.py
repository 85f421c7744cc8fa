"""Transactions through a shim, a local API Gateway, and functions that are killed."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from histories.background import Background
from histories.transactional.rounds import Clients, Disturber, Played, play_on
from support.chain import Chain

FEW = Clients(writers=2, copiers=1)
"""Each client has several connections, and each of these takes a function's process for itself."""
KILLED_AT_WORK = 0.02
"""The share of invocations whose process is killed within `KILL_WITHIN_S`, while it works."""
KILL_WITHIN_S = 0.05
PAUSE_S = (1.0, 4.0)


class FunctionKiller(Background):
    """Kills processes of functions while they work, and now and then all of them."""

    def __init__(self, chain: Chain, seed: int, log: Path) -> None:
        super().__init__("the killer of functions")
        self.counts: Counter[str] = Counter()
        self._chain = chain
        self._random = random.Random(seed)
        self._log = log
        self.start()

    def work(self) -> None:
        """No function is killed any more when this returns."""
        try:
            self._chain.chaos(kill=KILLED_AT_WORK, kill_within_s=KILL_WITHIN_S)
            while not self.over.wait(self._random.uniform(*PAUSE_S)):
                self._chain.chaos(kill_all=True)
                self.counts["killed"] += 1
                with self._log.open("a") as log:
                    log.write(f"{time.monotonic_ns()} all functions killed\n")
        finally:
            self._chain.chaos(kill=0.0)


def play_through(chain: Chain, path: Path, moments: random.Random, seconds: float) -> Played:
    def killers(log: Path) -> Iterator[Disturber]:
        yield FunctionKiller(chain, moments.randrange(10**9), log)

    before = processes(chain)
    played = play_on([chain.bootstrap], killers, path, moments, seconds, FEW)
    played.signals["started again"] = processes(chain) - before
    return played


def processes(chain: Chain) -> int:
    """How many of functions were started."""
    return sum(chain.stats()["started"].values())
