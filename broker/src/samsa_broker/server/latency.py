"""How long requests take, counted in buckets: from the request's last byte to its answer.

Counting begins when the console is opened. A bucket is an eighth of a power of two wide, so a
percentile is right within 12 %.
"""

from collections import Counter

MICROSECONDS = 1_000_000
FINE = 3
"""Bits of a number that are kept behind its first one."""


class Histogram:
    __slots__ = ("counts",)

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()

    def add(self, seconds: float) -> None:
        micros = int(seconds * MICROSECONDS)
        dropped = max(0, micros.bit_length() - 1 - FINE)
        self.counts[micros >> dropped << dropped] += 1

    def take(self) -> Counter[int]:
        """What was counted since the last call."""
        taken, self.counts = self.counts, Counter()
        return taken


def percentile_ms(counts: Counter[int], share: float) -> float | None:
    """None: nothing was counted."""
    left = share * counts.total()
    for micros in sorted(counts):
        left -= counts[micros]
        if left <= 0:
            return micros / 1000
    return None


class Latencies:
    __slots__ = ("fetch", "produce")

    def __init__(self) -> None:
        self.produce = Histogram()
        self.fetch = Histogram()
        """As Kafka's TotalTimeMs: a fetch that waits for records counts its wait."""
