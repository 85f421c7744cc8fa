"""Rates and token buckets of clients that several processes serve, each a part of their requests.

A rate is counted by whole seconds of the wall clock (windows), so that counts of several processes
can be added up. A process tells now and then what it has counted, and learns what all of them have;
in between it goes by both. A token bucket is kept as one number: the time when it is full again.

What clocks that were wrong have counted for other times is not looked at.
"""

import math
from collections.abc import Mapping
from typing import TypeAlias

from .rates import SAMPLES, WINDOW_MS, rounded

Windows: TypeAlias = Mapping[int, float]
"""Totals by second."""
AHEAD = 2
"""Windows: other clocks may be ahead of this one."""
BURST_MS = SAMPLES * WINDOW_MS
LONGEST_DEBT_MS = 24 * 3600 * 1000
"""No client waits for a bucket longer than a day."""


class SharedRate:
    """As `Rate`, over ten whole windows and the one that is under way."""

    __slots__ = ("_known", "_missed", "_telling", "_told_ms", "_untold", "_used_ms")

    def __init__(self) -> None:
        self._known: Windows = {}
        """What all processes have counted, as it was learned."""
        self._untold: dict[int, float] = {}
        self._telling: Windows = {}
        self._told_ms: int | None = None
        self._missed = False
        """Whether the last attempt to tell has failed."""
        self._used_ms = 0

    def record(self, value: float, now_ms: int) -> None:
        window = now_ms // WINDOW_MS
        self._untold[window] = self._untold.get(window, 0) + value
        if len(self._untold) > SAMPLES:
            self._untold = recent(self._untold, window)
        self._used_ms = now_ms

    def measure(self, now_ms: int) -> float:
        window = now_ms // WINDOW_MS
        counts = self._known, self._telling, self._untold
        total = sum(sum(recent(each, window).values()) for each in counts)
        return max(total, 0) * 1000 / _elapsed_ms(now_ms)

    def throttle_ms(self, limit: float, now_ms: int) -> int:
        rate = self.measure(now_ms)
        return rounded((rate - limit) / limit * _elapsed_ms(now_ms)) if rate > limit else 0

    def is_idle(self, now_ms: int) -> bool:
        return now_ms - self._used_ms >= BURST_MS + WINDOW_MS

    def is_due(self, limit: float, now_ms: int) -> bool:
        """Whether it was not told within the last second, or there is much to tell."""
        told_ms = self._told_ms
        is_old = told_ms is None or not 0 <= now_ms - told_ms < WINDOW_MS
        return is_old or self._has_much_to_tell(limit)

    def _has_much_to_tell(self, limit: float) -> bool:
        """As much as the limit grants for a second. It is told at once: it is not known whether
        this process will serve the same client again."""
        return sum(self._untold.values()) >= limit * WINDOW_MS / 1000

    def tell(self, now_ms: int) -> Windows:
        """What to tell now. `learn`, `was_not_told` or `may_be_told` follows.

        What was counted since the last time is told as of now: else it would count for as much
        shorter as it was told late. After a failure it is told as of when it was, so that ten
        seconds do not count as one."""
        window = now_ms // WINDOW_MS
        untold: Windows = recent(self._untold, window)
        if not self._missed:
            untold = {window: sum(untold.values())}
        self._telling, self._untold, self._told_ms = untold, {}, now_ms
        return untold

    def learn(self, totals: Windows) -> None:
        """It was told, and these are the totals of all."""
        self._known, self._telling, self._missed = totals, {}, False

    def was_not_told(self) -> None:
        """It is to be told again."""
        self._untold, self._telling = _added(self._untold, self._telling), {}
        self._missed = True

    def may_be_told(self) -> None:
        """It still counts here, and is not told again."""
        known = _added(self._known, self._telling)
        self._known = recent(known, (self._told_ms or 0) // WINDOW_MS)
        self._telling, self._missed = {}, True


class SharedBucket:
    """As `TokenBucket`. What was taken by an earlier limit is paid for by that limit."""

    __slots__ = ("full_at_ms",)

    def __init__(self) -> None:
        self.full_at_ms = 0

    def record(self, value: float, limit: float, now_ms: int) -> None:
        self.full_at_ms = full_again_at(self.full_at_ms, debt_ms(value, limit), now_ms)

    def throttle_ms(self, limit: float, now_ms: int) -> int:  # noqa: ARG002  (as TokenBucket)
        return max(0, _left_ms(self.full_at_ms, now_ms) - BURST_MS)

    def is_idle(self, now_ms: int) -> bool:
        return not _left_ms(self.full_at_ms, now_ms)

    def learn(self, full_at_ms: int) -> None:
        """As others have used it. What could not be told to them still counts here."""
        self.full_at_ms = max(self.full_at_ms, full_at_ms)


def debt_ms(value: float, limit: float) -> int:
    """How long it takes to earn so much."""
    return math.ceil(min(value * 1000 / limit, LONGEST_DEBT_MS))


def full_again_at(full_at_ms: int, more_ms: int, now_ms: int) -> int:
    """After some more was taken from a bucket."""
    return now_ms + min(_left_ms(full_at_ms, now_ms) + more_ms, BURST_MS + LONGEST_DEBT_MS)


def _left_ms(full_at_ms: int, now_ms: int) -> int:
    """Further ahead than any debt only a wrong clock has put it."""
    left_ms = full_at_ms - now_ms
    return left_ms if 0 < left_ms <= BURST_MS + LONGEST_DEBT_MS else 0


def recent(windows: Windows, window: int) -> dict[int, float]:
    """Those that a rate is made of now."""
    oldest, newest = window - SAMPLES + 1, window + AHEAD
    return {at: total for at, total in windows.items() if oldest <= at <= newest}


def _elapsed_ms(now_ms: int) -> int:
    return (SAMPLES - 1) * WINDOW_MS + now_ms % WINDOW_MS


def _added(some: Windows, more: Windows) -> dict[int, float]:
    return {at: some.get(at, 0) + more.get(at, 0) for at in some.keys() | more.keys()}
