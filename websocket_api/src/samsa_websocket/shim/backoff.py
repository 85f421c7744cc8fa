"""Back-off: how long to wait before the next try. 200 ms, doubling, capped, with jitter."""

from collections.abc import Callable, Iterator

QUICK_S = 0.1
QUICK_ROUNDS = 3


def delays(first: float, longest: float, chance: Callable[[], float]) -> Iterator[float]:
    """`chance` gives numbers from 0 to 1. Up to half of a delay is random, so that a thousand shims
    that lost the cluster together do not reconnect together."""
    delay = first
    while True:
        yield delay * (1 - chance() / 2)
        delay = min(longest, delay * 2)


class AskingPace:
    """Limits how often the shim asks for one client, because every question costs money.

    After a round of at least `QUICK_S`, the next one follows at once. So it does after a few quick
    rounds, because a wake may come right after a request was parked. More quick rounds are delayed.
    """

    def __init__(self, delays: Callable[[], Iterator[float]]) -> None:
        self._delays = delays
        self._next = delays()
        self._quick = 0

    def after(self, round_s: float) -> float:
        """How long to wait after a round that took so long."""
        if round_s >= QUICK_S:
            self._quick, self._next = 0, self._delays()
            return 0.0
        self._quick += 1
        return next(self._next) if self._quick > QUICK_ROUNDS else 0.0

    def after_failure(self) -> float:
        return next(self._next)
