"""How fast clients are, measured against their quotas, and how long those over them must wait.

One process measures what it serves itself, against its share of each quota: the limit divided by
the processes of the cluster. Functions share what they measure instead (`shared_rates.py`).

Rates are kept for the clients that were seen last and not for idle ones, so that made-up client ids
take a bounded memory.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from samsa.bounded import Bounded, short_key

from .quotas import (
    CONNECTION_CREATION_RATE,
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    REQUEST_PERCENTAGE,
    Limit,
    QuotaTable,
)
from .rates import SAMPLES, WINDOW_MS, Rate, TokenBucket

MOST_RATES = 10_000
DROPPED_AT_ONCE = 4
"""Idle rates that are dropped for each new one."""
SHORTEST_FETCH_MS = 100
"""A fetch that is a little over its quota waits so long at least: for as long as its rate does not
fall it would be asked again every millisecond, and each time the ledger is read."""
LEAST_SHARE = 1e-9
"""Kafka accepts any quota above 0, and the smallest number divided by two is 0."""
_Place = tuple[str, str, str]


class CanIdle(Protocol):
    def is_idle(self, now_ms: int, /) -> bool: ...


class AnyRate(CanIdle, Protocol):
    """What `Rate` does."""

    def record(self, value: float, now_ms: int, /) -> None: ...
    def measure(self, now_ms: int, /) -> float: ...
    def throttle_ms(self, limit: float, now_ms: int, /) -> int: ...


class AnyBucket(CanIdle, Protocol):
    """What `TokenBucket` does."""

    def record(self, value: float, limit: float, now_ms: int, /) -> None: ...
    def throttle_ms(self, limit: float, now_ms: int, /) -> int: ...


R = TypeVar("R", bound=CanIdle)


class Throttling:
    def __init__(
        self,
        current: Callable[[], QuotaTable],
        now_ms: Callable[[], int],
        processes: Callable[[], int] = lambda: 1,
        new_rate: Callable[[], AnyRate] = Rate,
        new_bucket: Callable[[], AnyBucket] = TokenBucket,
        most_rates: int = MOST_RATES,
    ) -> None:
        """`current` gives the quotas of now. `now_ms` should be monotonic for a `Rate`: while a
        clock stands still, so does it."""
        self._current = current
        self._now_ms = now_ms
        self._processes = processes
        self._new_rate = new_rate
        self._new_bucket = new_bucket
        self._rates: Bounded[_Place, AnyRate] = Bounded(most_rates)
        self._buckets: Bounded[_Place, AnyBucket] = Bounded(most_rates)

    def __len__(self) -> int:
        """Rates that are kept."""
        return len(self._rates) + len(self._buckets)

    def limits(self, key: str) -> bool:
        """Whether there are such quotas at all: without, a server need not count."""
        return self._current().has(key)

    def forget(self) -> None:
        """All that was measured."""
        self._rates.clear()
        self._buckets.clear()

    def record(self, key: str, user: str, client_id: str, value: float) -> int:
        """Counts bytes (of produce) or a share of a second in per cent (of requests). The answer is
        for how many milliseconds the client must be silent: 0 within the quota."""
        limit = self.limit(key, user, client_id)
        if limit is None:
            return 0
        now_ms, rate = self._now_ms(), self.rate(limit)
        rate.record(value, now_ms)
        throttle_ms = rate.throttle_ms(limit.value, now_ms)
        return min(throttle_ms, WINDOW_MS) if key == REQUEST_PERCENTAGE else throttle_ms

    def record_fetch(self, user: str, client_id: str, size: int) -> int:
        """Counts the bytes of a fetch. Above 0 it has to be answered without them, and they are not
        counted. The first bytes after an idle time are always allowed: a batch that is larger than
        the quota of a whole window would never be read otherwise."""
        limit = self.limit(CONSUMER_BYTE_RATE, user, client_id)
        if limit is None:
            return 0
        now_ms, rate = self._now_ms(), self.rate(limit)
        is_first = rate.measure(now_ms) == 0
        rate.record(size, now_ms)
        throttle_ms = 0 if is_first else rate.throttle_ms(limit.value, now_ms)
        if not throttle_ms:
            return 0
        rate.record(-size, now_ms)
        return max(throttle_ms, SHORTEST_FETCH_MS)

    def most_bytes(self, user: str, client_id: str) -> int | None:
        """More than this in one fetch is over the quota by itself, however idle the client was."""
        limit = self.limit(CONSUMER_BYTE_RATE, user, client_id)
        if limit is None:
            return None
        return max(1, int(limit.value * (SAMPLES - 1) * WINDOW_MS / 1000))

    def mutation_throttle_ms(self, user: str, client_id: str) -> int:
        """Above 0, earlier mutations have used up the quota: a strict client is refused more."""
        limit = self.limit(CONTROLLER_MUTATION_RATE, user, client_id)
        return self.bucket(limit).throttle_ms(limit.value, self._now_ms()) if limit else 0

    def record_mutation(self, user: str, client_id: str, partitions: int) -> None:
        """Counts partitions that were created or deleted, which may be more than is left."""
        limit = self.limit(CONTROLLER_MUTATION_RATE, user, client_id)
        if limit is not None:
            self.bucket(limit).record(partitions, limit.value, self._now_ms())

    def connect(self, host: str) -> int:
        """Counts a new connection from an address. Above 0 it is closed after so long, and is not
        counted."""
        limit = self.limit_of_address(host)
        if limit is None:
            return 0
        now_ms, rate = self._now_ms(), self.rate(limit)
        rate.record(1, now_ms)
        throttle_ms = min(rate.throttle_ms(limit.value, now_ms), WINDOW_MS)
        if throttle_ms:
            rate.record(-1, now_ms)
        return throttle_ms

    def limit(self, key: str, user: str, client_id: str) -> Limit | None:
        """The limit for this process, and who shares it; None without a quota."""
        limit = self._current().limit(key, user, client_id)
        return None if limit is None else self._share(limit)

    def limit_of_address(self, host: str) -> Limit | None:
        """Of the connections that it opens."""
        whole = self._current().connections_per_second(host)
        if whole is None:
            return None
        return self._share(Limit(CONNECTION_CREATION_RATE, host, "", whole))

    def _share(self, limit: Limit) -> Limit:
        return limit._replace(value=max(limit.value / max(1, self._processes()), LEAST_SHARE))

    def rate(self, limit: Limit) -> AnyRate:
        return self._kept(self._rates, limit, self._new_rate)

    def bucket(self, limit: Limit) -> AnyBucket:
        return self._kept(self._buckets, limit, self._new_bucket)

    def _kept(self, there: Bounded[_Place, R], limit: Limit, make: Callable[[], R]) -> R:
        place = (limit.key, short_key(limit.user), short_key(limit.client_id))
        found = there.use(place)
        if found is None:
            self._drop_idle(there)
            found = make()
            there.keep(place, found)
        return found

    def _drop_idle(self, there: Bounded[_Place, R]) -> None:
        """The one that was used longest ago is the first."""
        now_ms = self._now_ms()
        for _ in range(DROPPED_AT_ONCE):
            if not there:
                return
            place, first = next(iter(there.items()))
            if not first.is_idle(now_ms):
                return
            del there[place]


@dataclass(slots=True)
class ClientThrottle:
    """The quotas of the client of one request."""

    throttling: Throttling
    user: str
    client_id: str
    """Empty if it has none."""
    fetched: int = 0
    """Bytes of a fetch that were counted."""
    mutated: int = 0
    """Partitions that were counted."""

    def record(self, key: str, value: float) -> int:
        return self.throttling.record(key, self.user, self.client_id, value)

    def record_fetch(self, size: int) -> int:
        wait_ms = self.throttling.record_fetch(self.user, self.client_id, size)
        if not wait_ms:
            self.fetched += size
        return wait_ms

    def correct_fetch(self, size: int) -> None:
        """No more and no less than `size` bytes were sent."""
        if size != self.fetched:
            self.record(CONSUMER_BYTE_RATE, size - self.fetched)
            self.fetched = size

    def fewer_bytes(self, most: int) -> int:
        """`most` bytes of a fetch, or fewer."""
        found = self.throttling.most_bytes(self.user, self.client_id)
        return most if found is None else min(most, found)

    @property
    def mutation_throttle_ms(self) -> int:
        return self.throttling.mutation_throttle_ms(self.user, self.client_id)

    def record_mutation(self, partitions: int) -> None:
        self.mutated += partitions
        self.throttling.record_mutation(self.user, self.client_id, partitions)
