"""One call, timed: repeated until it is steady, the median of several rounds."""

import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

ROUNDS = 5


class Case(NamedTuple):
    room: str
    what: str
    call: Callable[[], Any]
    """A plain function, or one that returns something to await."""
    size: int = 0
    """Bytes that one call handles, where that says something."""
    most: int = 1_000_000
    """Calls in a round, at most: some leave files behind."""


class Timing(NamedTuple):
    case: Case
    seconds: float


async def measure(case: Case, seconds: float) -> Timing:
    """`seconds` is what one round aims to take."""
    one = await _round(case.call, 1)
    count = max(1, min(case.most, int(seconds / max(one, 1e-7))))
    count = max(1, min(case.most, int(seconds / max(await _round(case.call, count), 1e-9))))
    rounds = [await _round(case.call, count) for _ in range(ROUNDS)]
    return Timing(case, statistics.median(rounds))


async def _round(call: Callable[[], Any], count: int) -> float:
    """Seconds of one call."""
    started = time.perf_counter()
    for _ in range(count):
        result = call()
        if isinstance(result, Awaitable):
            await result
    return (time.perf_counter() - started) / count
