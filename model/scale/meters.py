"""Rates that AWS limits: token buckets that serve in order.

A bucket is kept as the time up to which its rate is spent. That time lags behind the clock by no
more than the burst: what is saved up. A call is admitted when the clock has reached it.
"""

from __future__ import annotations

from array import array


class Bucket:
    def __init__(self, rate: float, burst: float) -> None:
        self.rate = rate
        self.burst = burst
        self.used = 0.0
        self.asked = 0.0
        """With what was refused."""
        self.taken = 0.0
        """Of the rate, by clients that are only there."""
        self._spent = 0.0

    def quote(self, now: float, units: float) -> float:
        """When a call of so many units would be admitted."""
        return max(self._spent, now - self.burst) + units / (self.rate - self.taken)

    def take(self, now: float, units: float) -> float:
        """When the call is admitted."""
        self.asked += units
        self.used += units
        self._spent = self.quote(now, units)
        return max(now, self._spent)

    def refuse(self, units: float) -> None:
        self.asked += units

    def begin(self, now: float) -> None:
        """Count anew: what waits is admitted from now on."""
        self.used = self.asked = self._waiting(now)

    def admitted(self, now: float) -> float:
        """Since it began to count."""
        return self.used - self._waiting(now)

    def _waiting(self, now: float) -> float:
        return max(0.0, self._spent - now) * (self.rate - self.taken)


class Buckets:
    """One for each of very many keys, all alike."""

    def __init__(self, count: int, rate: float, burst: float) -> None:
        self.rate = rate
        self.burst = burst
        self.used = array("d", bytes(8 * count))
        self.refused = array("d", bytes(8 * count))
        self._spent = array("d", bytes(8 * count))

    def quote(self, key: int, now: float, units: float) -> float:
        return max(self._spent[key], now - self.burst) + units / self.rate

    def take(self, key: int, now: float, units: float) -> float:
        self.used[key] += units
        self._spent[key] = self.quote(key, now, units)
        return max(now, self._spent[key])

    def refuse(self, key: int, units: float) -> None:
        self.refused[key] += units

    def begin(self, now: float) -> None:
        """Count anew, as a bucket does."""
        self.refused = array("d", bytes(8 * len(self.used)))
        self.used = array("d", (max(0.0, spent - now) * self.rate for spent in self._spent))

    def busiest(self, now: float) -> float:
        """Units that were admitted for the key that had most."""
        rows = zip(self.used, self._spent, strict=True)
        return max(used - max(0.0, spent - now) * self.rate for used, spent in rows)

    def most_asked(self) -> float:
        """Units that were asked for the key for which most were."""
        return max(used + refused for used, refused in zip(self.used, self.refused, strict=True))
