"""The load on a cluster, and the requests that Kafka's clients make of it by default."""

from dataclasses import dataclass
from math import exp
from typing import NamedTuple

SECONDS = 730 * 3600
"""Hours of a month, as AWS counts them."""
HOURS = 730
GB = 2**30
MB = 2**20

BATCH_HEADER = 61
"""Bytes of a record batch before its records."""
RECORD_HEADER = 8
"""Bytes of a record before its value, approximately."""
HEARTBEAT_S = 3.0
COMMIT_S = 5.0
FETCH_S = 0.5
"""heartbeat.interval.ms, auto.commit.interval.ms and fetch.max.wait.ms."""
TOPIC_FOR_S = 1
"""After this time a process, or a function, looks a topic up again."""
PER_PRODUCER, PER_CONSUMER = 1, 2
"""Connections: to the broker, and of a group's member to its coordinator too."""
MANY = 50
"""Messages beyond the first: their number hardly differs from append to append."""
RARE = 1e-6


class AppendShare(NamedTuple):
    """What a commit adds to one partition."""

    share: float
    """The share of such appends among all."""
    size: float
    """Bytes."""
    inline: bool
    """Whether the bytes are kept in the ledger, and in no object."""


@dataclass(frozen=True, slots=True)
class Load:
    messages_per_second: float
    size: int = 1_000
    """Bytes of a message, as it is sent."""
    producers: int = 10
    consumers: int = 10
    groups: int = 1
    """Consumer groups; each of them reads everything."""
    partitions: int = 12
    batch_bytes: int = 16_384
    linger_ms: float = 5.0
    retention_hours: float = 168.0
    keyed: bool = False
    """With keys, a producer fills a batch for each partition at the same time; without, one after
    the other."""
    idempotent: bool = True
    internet: bool = False
    """The consumers are outside of AWS."""
    window_ms: float = 0.0
    """`samsa up --window-ms`: appends that come to a process within it share an object."""
    shim_linger_ms: float = 0.0
    """`samsa shim --linger-ms`: produces of one client within it share a message."""
    load_balancer: bool = False
    """The processes are one node behind it: a partition's clients use different processes."""

    @property
    def bytes_per_second(self) -> float:
        return self.messages_per_second * self.size

    @property
    def written_gb(self) -> float:
        """A month."""
        return self.bytes_per_second * SECONDS / GB

    @property
    def read_gb(self) -> float:
        return self.written_gb * self.readers

    @property
    def readers(self) -> int:
        """How often each message is read."""
        return self.groups if self.consumers else 0

    @property
    def kept_gb(self) -> float:
        return self.bytes_per_second * self.retention_hours * 3600 / GB

    @property
    def connections(self) -> int:
        return self.producers * PER_PRODUCER + self.consumers * PER_CONSUMER

    @property
    def reading(self) -> int:
        """Consumers that have a partition."""
        if not self.consumers:
            return 0
        return min(self.consumers, self.groups * self.partitions)

    @property
    def partitions_each(self) -> float:
        """Partitions of a consumer that has any."""
        return self.partitions * self.groups / self.reading if self.reading else 0

    def batch(self, window_s: float) -> float:
        """Messages of a batch that is closed so long after its first message, or when full."""
        lanes = self.partitions if self.keyed else 1
        rate = self.messages_per_second / self.producers / lanes if self.producers else 0.0
        most = max(1, self.batch_bytes // self.size)
        return min(1 + rate * window_s, most)

    def batches(self, window_s: float) -> float:
        """Messages of all producers in a second."""
        return self.messages_per_second / self.batch(window_s)

    def append_size(self, messages: float) -> float:
        """Bytes of so many messages, in batches as they come."""
        batches = max(1.0, messages / self.batch(self.linger_ms / 1000))
        return batches * BATCH_HEADER + messages * (self.size + RECORD_HEADER)

    def partitions_of(self, messages: float, producers: float, among: float) -> float:
        """How many of `among` partitions get something, if so many messages come together from so
        many producers. A producer without keys stays with one partition until it has sent a full
        batch to it (Java's, by default)."""
        each = self.batch(self.linger_ms / 1000)
        runs = batches = max(1.0, messages / each)
        if not self.keyed:
            heard = _met(max(1.0, producers), batches)
            runs = heard + (batches - heard) * min(1.0, each * self.size / self.batch_bytes)
        return _met(max(1.0, among), runs)


def _met(among: float, times: float) -> float:
    """How many different items are chosen by so many random choices."""
    return among * (1 - float((1 - 1 / among) ** times))


def by_chance(mean: float) -> list[tuple[float, float]]:
    """Shares of all appends, each with a number of messages, if the average is `mean`: a first
    message, and those that came by chance before the append was closed."""
    more = max(0.0, mean - 1)
    if more > MANY:
        return [(1.0, mean)]
    found, left, share = [], 1.0, exp(-more)
    for number in range(4 * MANY):
        found.append((min(share, left), number + 1.0))
        left -= share
        share *= more / (number + 1)
        if left <= RARE:
            break
    return found


def shared(rate: float, each_s: float) -> float:
    """How often in a second a step runs that takes `each_s`, and then serves all that came
    meanwhile."""
    return rate / (1 + rate * each_s)
