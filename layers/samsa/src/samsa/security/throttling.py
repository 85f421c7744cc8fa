"""How fast clients are, measured against their quotas, and how long those over them must wait.

One process measures what it serves itself. Rates are kept for the clients that were seen last, so
that made-up client ids take a bounded memory.
"""

from collections.abc import Callable

from samsa.bounded import Bounded

from .quotas import (
    CONNECTION_CREATION_RATE,
    CONTROLLER_MUTATION_RATE,
    REQUEST_PERCENTAGE,
    Limit,
    QuotaTable,
)
from .rates import SAMPLES, WINDOW_MS, Rate, TokenBucket

MOST_RATES = 10_000
_Place = tuple[str, str, str]


class Throttling:
    """`current` gives the quotas of now."""

    def __init__(self, current: Callable[[], QuotaTable]) -> None:
        self._current = current
        self._rates: Bounded[_Place, Rate] = Bounded(MOST_RATES)
        self._buckets: Bounded[_Place, TokenBucket] = Bounded(MOST_RATES)

    def limits(self, key: str) -> bool:
        """Whether there are such quotas at all: without, a server need not count."""
        return self._current().has(key)

    def record(self, key: str, user: str, client_id: str, value: float, now_ms: int) -> int:
        """Counts bytes (of produce or fetch) or a share of a second in per cent (of requests). The
        answer is for how many milliseconds the client must be silent: 0 within the quota."""
        limit = self._current().limit(key, user, client_id)
        if limit is None:
            return 0
        rate = self._rate(limit)
        rate.record(value, now_ms)
        throttle_ms = rate.throttle_ms(limit.value, now_ms)
        return min(throttle_ms, WINDOW_MS) if key == REQUEST_PERCENTAGE else throttle_ms

    def take_back(self, key: str, user: str, client_id: str, value: float, now_ms: int) -> None:
        """What was counted was not sent: a fetch that is throttled is answered with nothing."""
        limit = self._current().limit(key, user, client_id)
        if limit is not None:
            self._rate(limit).record(-value, now_ms)

    def most_bytes(self, key: str, user: str, client_id: str) -> float | None:
        """More than this in one answer is over the quota by itself, however idle the client was."""
        limit = self._current().limit(key, user, client_id)
        return None if limit is None else limit.value * (SAMPLES - 1) * WINDOW_MS / 1000

    def mutate(
        self, user: str, client_id: str, partitions: float, now_ms: int, strict: bool = True
    ) -> int:
        """Counts partitions that are created or deleted. Strict: an answer above 0 refuses them
        (THROTTLING_QUOTA_EXCEEDED), and they are not counted. Otherwise, for clients that do not
        know that error, they are allowed and the client is silent for that long."""
        limit = self._current().limit(CONTROLLER_MUTATION_RATE, user, client_id)
        if limit is None:
            return 0
        bucket = self._bucket(limit)
        throttle_ms = bucket.throttle_ms(limit.value, now_ms) if strict else 0
        if throttle_ms == 0:
            bucket.record(partitions, limit.value, now_ms)
        return throttle_ms if strict else bucket.throttle_ms(limit.value, now_ms)

    def connect(self, host: str, now_ms: int) -> int:
        """Counts a new connection from an address. Above 0 it is closed after so long, and is not
        counted."""
        limit = self._current().connections_per_second(host)
        if limit is None:
            return 0
        rate = self._rate(Limit(CONNECTION_CREATION_RATE, host, "", limit))
        rate.record(1, now_ms)
        throttle_ms = min(rate.throttle_ms(limit, now_ms), WINDOW_MS)
        if throttle_ms:
            rate.record(-1, now_ms)
        return throttle_ms

    def _rate(self, limit: Limit) -> Rate:
        place = (limit.key, limit.user, limit.client_id)
        rate = self._rates.use(place)
        if rate is None:
            rate = Rate()
            self._rates.keep(place, rate)
        return rate

    def _bucket(self, limit: Limit) -> TokenBucket:
        place = (limit.key, limit.user, limit.client_id)
        bucket = self._buckets.use(place)
        if bucket is None:
            bucket = TokenBucket()
            self._buckets.keep(place, bucket)
        return bucket
