"""A token bucket: so many a second on average, and a burst at once."""

from dataclasses import dataclass


@dataclass(slots=True)
class ThrottleBucket:
    per_s: float
    burst: int
    tokens: float = -1.0
    seen_at: float = 0.0

    def take(self, now: float) -> bool:
        if self.tokens < 0:
            self.tokens, self.seen_at = self.burst, now
        self.tokens = min(self.burst, self.tokens + (now - self.seen_at) * self.per_s)
        self.seen_at = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True
