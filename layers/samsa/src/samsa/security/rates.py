"""Rates as Kafka measures them, and how long a client that is too fast has to wait. Time is handed
in, in milliseconds; a clock that goes back counts as one that stands still.
"""

import math

SAMPLES = 11
WINDOW_MS = 1000


class _Sample:
    __slots__ = ("last_ms", "start_ms", "total")

    def __init__(self, now_ms: int) -> None:
        self.start(now_ms)

    def start(self, now_ms: int) -> None:
        self.start_ms = self.last_ms = now_ms
        self.total = 0.0


class Rate:
    """Units per second over the last samples: ten whole windows and the one that is under way."""

    __slots__ = ("_current", "_newest_ms", "_samples", "samples", "window_ms")

    def __init__(self, samples: int = SAMPLES, window_ms: int = WINDOW_MS) -> None:
        self.samples = samples
        self.window_ms = window_ms
        self._samples: list[_Sample] = []
        self._current = 0
        self._newest_ms = 0

    def record(self, value: float, now_ms: int) -> None:
        now_ms = self._forward(now_ms)
        sample = self._sample(now_ms)
        sample.total += value
        sample.last_ms = now_ms

    def measure(self, now_ms: int) -> float:
        window_ms = self.elapsed_ms(now_ms)
        return sum(sample.total for sample in self._samples) * 1000 / window_ms

    def elapsed_ms(self, now_ms: int) -> int:
        """The time that the rate is taken over. A rate that has just begun counts as if it had been
        nothing before, so that a first burst is not taken for an endless one."""
        now_ms = self._forward(now_ms)
        self._purge(now_ms)
        oldest_ms = min((sample.start_ms for sample in self._samples), default=now_ms)
        elapsed_ms = now_ms - oldest_ms
        missing = self.samples - 1 - elapsed_ms // self.window_ms
        return max(elapsed_ms + max(missing, 0) * self.window_ms, 1)

    def throttle_ms(self, limit: float, now_ms: int) -> int:
        """How long to stay silent until the rate is down to its limit."""
        rate = self.measure(now_ms)
        if rate <= limit:
            return 0
        return rounded((rate - limit) / limit * self.elapsed_ms(now_ms))

    def is_idle(self, now_ms: int) -> bool:
        """Whether nothing of it is left to be measured."""
        return now_ms - self._newest_ms >= (self.samples + 1) * self.window_ms

    def _forward(self, now_ms: int) -> int:
        self._newest_ms = max(self._newest_ms, now_ms)
        return self._newest_ms

    def _sample(self, now_ms: int) -> _Sample:
        if not self._samples:
            self._samples.append(_Sample(now_ms))
        sample = self._samples[self._current]
        if now_ms - sample.start_ms < self.window_ms:
            return sample
        # One more than is measured, for the sample that the measured time begins in.
        self._current = (self._current + 1) % (self.samples + 1)
        if self._current == len(self._samples):
            self._samples.append(_Sample(now_ms))
        else:
            self._samples[self._current].start(now_ms)
        return self._samples[self._current]

    def _purge(self, now_ms: int) -> None:
        for sample in self._samples:
            if now_ms - sample.last_ms >= self.samples * self.window_ms:
                sample.start(now_ms)


class TokenBucket:
    """Mutations of a controller: a burst of all samples at once, filled up again by the limit. More
    tokens may be taken than there are; then the client has to wait until they are back."""

    __slots__ = ("_newest_ms", "_tokens", "samples", "window_ms")

    def __init__(self, samples: int = SAMPLES, window_ms: int = WINDOW_MS) -> None:
        self.samples = samples
        self.window_ms = window_ms
        self._tokens = math.inf
        self._newest_ms = 0

    def record(self, value: float, limit: float, now_ms: int) -> None:
        burst = self._burst(limit)
        self._tokens = min(burst, self._filled(limit, now_ms) - value)

    def throttle_ms(self, limit: float, now_ms: int) -> int:
        tokens = self._filled(limit, now_ms)
        return rounded(-tokens / limit * 1000) if tokens < 0 else 0

    def is_idle(self, now_ms: int) -> bool:
        """Whether it was not used for so long that it is full. One in debt is never idle."""
        return self._tokens >= 0 and now_ms - self._newest_ms >= self.samples * self.window_ms

    def _filled(self, limit: float, now_ms: int) -> float:
        now_ms = max(now_ms, self._newest_ms)
        gained = limit * (now_ms - self._newest_ms) / 1000
        self._tokens = min(self._burst(limit), self._tokens + gained)
        self._newest_ms = now_ms
        return self._tokens

    def _burst(self, limit: float) -> float:
        return self.samples * self.window_ms / 1000 * limit


def rounded(milliseconds: float) -> int:
    """As Java's Math.round, and never more than its int: a limit may be tiny."""
    return math.floor(min(milliseconds, 2**31 - 1) + 0.5)
