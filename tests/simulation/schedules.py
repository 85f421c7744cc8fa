"""The schedules that every run of the tests plays."""

from collections import Counter
from functools import cache

from .play import run

SCHEDULES = 2_000
EACH = 50
CHUNKS = tuple(range(first, first + EACH) for first in range(0, SCHEDULES, EACH))


@cache
def play(seeds: range) -> "Counter[str]":
    """The paths that these schedules took. Raises on the first that breaks an invariant."""
    paths: Counter[str] = Counter()
    for seed in seeds:
        finished = run(seed)
        if finished.violation:
            raise AssertionError(finished.story())
        paths += finished.paths
    return paths
