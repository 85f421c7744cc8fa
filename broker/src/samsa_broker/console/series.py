"""Series of numbers over the last hour: a ring of 360 places, one for each 10 s.

Memory is bounded: `History` keeps at most `MOST_SERIES` of them, 3 KB each, and drops those first
that were not written for longest.
"""

import math
from array import array
from collections.abc import Hashable
from typing import Any, TypeAlias

from samsa.bounded import Bounded

STEP_MS = 10_000
POINTS = 360
MOST_SERIES = 2_000
"""Six megabytes."""
Point: TypeAlias = tuple[int, float | None]
UNKNOWN = math.nan


class Series:
    __slots__ = ("_newest", "_values")

    def __init__(self) -> None:
        self._values = array("d", [UNKNOWN]) * POINTS
        self._newest = -1
        """The number of the newest place; places count from 1970."""

    def put(self, now_ms: int, value: float | None) -> None:
        """None leaves a gap. After the clock was set back the series begins anew."""
        place = now_ms // STEP_MS
        if self._newest < 0 or not 0 <= place - self._newest < POINTS:
            self._values = array("d", [UNKNOWN]) * POINTS
        else:
            for between in range(self._newest + 1, place):
                self._values[between % POINTS] = UNKNOWN
        self._newest = place
        self._values[place % POINTS] = UNKNOWN if value is None else value

    def points(self, now_ms: int) -> list[Point]:
        """The last hour, the oldest first."""
        last = now_ms // STEP_MS
        return [(place * STEP_MS, self._at(place)) for place in range(last - POINTS + 1, last + 1)]

    def _at(self, place: int) -> float | None:
        if not 0 <= self._newest - place < POINTS:
            return None
        value = self._values[place % POINTS]
        return None if math.isnan(value) else value


class History:
    """Series by key, such as `("topic_size", "orders")`."""

    def __init__(self, most: int = MOST_SERIES) -> None:
        self._series = Bounded[Any, Series](most)

    def put(self, key: Hashable, now_ms: int, value: float | None) -> None:
        series = self._series.get(key) or Series()
        self._series.keep(key, series)
        series.put(now_ms, value)

    def find(self, key: Hashable) -> Series | None:
        return self._series.get(key)

    def drop(self, key: Hashable) -> None:
        self._series.pop(key, None)

    @property
    def keys(self) -> list[Any]:
        return list(self._series)

    def keys_of(self, first: tuple[str, str]) -> list[str]:
        """The last parts of keys that begin with these two."""
        return [key[2] for key in self._series if _begins(key, first)]

    def __len__(self) -> int:
        return len(self._series)


def _begins(key: Any, first: tuple[str, str]) -> bool:
    return isinstance(key, tuple) and len(key) == 3 and key[:2] == first
