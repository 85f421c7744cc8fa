"""How long to wait before the next try: 200 ms, doubling, capped, and never two alike."""

from collections.abc import Callable, Iterator


def delays(first: float, longest: float, chance: Callable[[], float]) -> Iterator[float]:
    """`chance` gives numbers from 0 to 1. Up to half of a delay is left to it, so that a thousand
    shims that lost the cluster together do not come back together."""
    delay = first
    while True:
        yield delay * (1 - chance() / 2)
        delay = min(longest, delay * 2)
