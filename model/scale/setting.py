"""What is played: the limits of an account, the times of a call, the design, and the load.

`Limits` are published by AWS; docs/scale.md names each, and where it was read. `Times`, and
whatever else says so, are assumed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

KB = 1024
FUNCTIONS, PROCESSES = "functions", "processes"


@dataclass(frozen=True, slots=True)
class Limits:
    """A second, unless it says otherwise. Quotas are the defaults of an account and Region."""

    key_writes: float = 1_000
    """Write units of one partition key of DynamoDB: of a head, and of its index beside it."""
    key_reads: float = 3_000
    table_writes: float = 40_000
    table_reads: float = 40_000
    puts: float = 3_500
    """Of S3, for each prefix."""
    gets: float = 5_500
    prefixes: int = 1
    """That S3 has split the bucket into."""
    requests: float = 10_000
    """Of API Gateway: messages from clients, and pushes to them."""
    connects: float = 500
    functions: float = 1_000
    """At the same time."""
    invocations_each: float = 10
    """Invocations for each of `functions`."""
    network: float = 58e6
    """Bytes of one process. Assumed: half of the baseline of an m7g.large, as `samsa cost` has."""


@dataclass(frozen=True, slots=True)
class Times:
    """Means, in seconds. Half of a time is fixed, the other half is exponential: assumed."""

    ledger: float = 0.005
    put: float = 0.025
    get: float = 0.015
    own: float = 0.005
    """A function's own work on a request."""
    patience: float = 1.0
    """For so long a throttled call is tried again; then the request fails, and can be retried."""
    burst: float = 1.0
    """Seconds of a rate that can be saved up. DynamoDB has up to 300, and guarantees none."""


@dataclass(frozen=True, slots=True)
class Presence:
    """What a client sends because it is there: seconds between two. Kafka's defaults."""

    beat: float = 3
    beats_per_write: float = 3
    """One heartbeat in so many moves the end of the session on."""
    is_session_apart: bool = False
    """In an item of its own, and not in that of the group."""
    commit: float = 5
    """Infinite if a commit that changes nothing is not sent, or not written."""
    metadata: float = 300
    refresh: float = 30
    """A parked fetch is sent anew, and registers as watcher again."""
    look: float = 1
    """A process looks at each head that it watches."""
    life: float = 110 * 60
    """Of a WebSocket, before the shim makes another."""


@dataclass(frozen=True, slots=True)
class Design:
    inline: int = 4 * KB
    """Up to so many bytes are in the head itself."""
    settle_entries: int = 16
    settle_bytes: int = 8 * KB
    producers: int = 16
    """In a head; with more, some are evicted."""
    has_back_pressure: bool = False
    """An append that finds a head twice as full settles it first, or is refused."""
    is_index_apart: bool = False
    """Index and evicted producers have partition keys of their own."""
    has_standing_watchers: bool = False
    """A push that carries the records leaves the watcher in place: no new fetch is needed."""
    window: float = 0.0
    has_hints: bool = False
    """A partition's appends meet in one process."""


@dataclass(frozen=True, slots=True)
class Setting:
    shape: str = FUNCTIONS
    appends: float = 1_000
    """Offered, in a second. Each is the request of one producer, for one partition."""
    size: int = 1_000
    """Bytes of an append."""
    partitions: int = 100_000
    clients: int = 1_000_000
    producing: float = 0.8
    """Of the clients; the others are members of groups, with one partition each."""
    group: int = 10
    """Members of a group."""
    skew: float = 1.0
    """The exponent of Zipf's law: how popular a partition is among producers."""
    largest_share: float = 1.0
    """Of all appends, in one partition: what had more is more partitions."""
    processes: int = 32
    limits: Limits = Limits()
    times: Times = Times()
    presence: Presence = Presence()
    design: Design = Design()
    seed: int = 1
    seconds: float = 8.0
    """Played and measured, after half as many to warm up."""
    most_appends: int = 60_000
    """Played and measured, if that is reached sooner, but for two seconds at least."""

    @property
    def measured(self) -> float:
        return max(min(self.seconds, self.most_appends / self.appends), 2.0)

    @property
    def warming(self) -> float:
        return max(self.measured / 2, 2.0)

    @property
    def readers(self) -> float:
        """Groups that read a partition."""
        return self.consumers / self.partitions

    @property
    def producers(self) -> int:
        return round(self.clients * self.producing)

    @property
    def consumers(self) -> int:
        return self.clients - self.producers

    def but(self, **changes: Any) -> Setting:
        """With fields of its parts changed: each name is in one part only."""
        parts: dict[str, dict[str, Any]] = {}
        own: dict[str, Any] = {}
        for name, value in changes.items():
            for part in ("limits", "times", "presence", "design"):
                if hasattr(getattr(self, part), name):
                    parts.setdefault(part, {})[name] = value
                    break
            else:
                own[name] = value
        for part, values in parts.items():
            own[part] = replace(getattr(self, part), **values)
        return replace(self, **own)
