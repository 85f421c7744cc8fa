"""What is counted while it runs."""

from __future__ import annotations


class Tally:
    def __init__(self) -> None:
        self.is_measuring = False
        self.latencies: list[float] = []
        self.refused = 0
        self.under_way = 0
        self.under_way_s = 0.0
        """Appends that were under way, added up over the time: for Little's law."""
        self._since = 0.0

    def begin(self, now: float) -> None:
        self._count(now, 1)

    def done(self, began: float, now: float) -> None:
        self._count(now, -1)
        if self.is_measuring:
            self.latencies.append(now - began)

    def refuse(self, now: float) -> None:
        self._count(now, -1)
        self.refused += self.is_measuring

    def measure(self, now: float) -> None:
        """From now on."""
        self._count(now, 0)
        self.is_measuring, self.under_way_s = True, 0.0

    def end(self, now: float) -> None:
        self._count(now, 0)
        self.is_measuring = False

    def _count(self, now: float, change: int) -> None:
        self.under_way_s += self.under_way * (now - self._since)
        self._since = now
        self.under_way += change


def quantile(ordered: list[float], part: float) -> float:
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)] if ordered else 0.0
