"""How long to wait before the next try: 200 ms, doubling, capped, and never two alike."""

from collections.abc import Callable, Iterator

QUICK_S = 0.1
QUICK_ROUNDS = 3


def delays(first: float, longest: float, chance: Callable[[], float]) -> Iterator[float]:
    """`chance` gives numbers from 0 to 1. Up to half of a delay is left to it, so that a thousand
    shims that lost the cluster together do not come back together."""
    delay = first
    while True:
        yield delay * (1 - chance() / 2)
        delay = min(longest, delay * 2)


class Pace:
    """Of asking again and again for one client: every question is paid for.

    A round that took its time is followed at once by the next. So are a few quick ones: a wake may
    come right after a request was parked. Whoever goes on like that is slowed down.
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
