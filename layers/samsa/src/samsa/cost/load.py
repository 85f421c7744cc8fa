"""What is asked of a cluster, and what Kafka's clients make of it on their default settings."""

from dataclasses import dataclass

SECONDS = 730 * 3600
"""Of a month, as AWS counts them."""
HOURS = 730
GB = 2**30
MB = 2**20

BATCH_HEADER = 61
"""Bytes of a record batch before its records."""
RECORD_HEADER = 8
"""About, of a record before its value."""
HEARTBEAT_S = 3.0
COMMIT_S = 5.0
"""heartbeat.interval.ms and auto.commit.interval.ms."""
PER_PRODUCER, PER_CONSUMER = 1, 2
"""Connections: to the broker, and of a group's member to its coordinator too."""


@dataclass(frozen=True, slots=True)
class Load:
    messages_per_second: float
    size: int = 1_000
    """Bytes of a message, as it is sent."""
    producers: int = 10
    consumers: int = 10
    groups: int = 1
    """That the consumers form; each of them reads everything."""
    partitions: int = 12
    batch_bytes: int = 16_384
    linger_ms: float = 5.0
    retention_hours: float = 168.0
    keyed: bool = False
    """A producer then fills a batch for each partition, else one after the other."""
    idempotent: bool = True
    internet: bool = False
    """The consumers are outside of AWS."""

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
        """Of a consumer that has any."""
        return self.partitions * self.groups / self.reading if self.reading else 0

    def batch(self, window_s: float) -> float:
        """Messages of a batch that is closed so long after its first message, or when full."""
        lanes = self.partitions if self.keyed else 1
        rate = self.messages_per_second / self.producers / lanes if self.producers else 0.0
        most = max(1, self.batch_bytes // self.size)
        return min(1 + rate * window_s, most)

    def batches(self, window_s: float) -> float:
        """A second, of all producers."""
        return self.messages_per_second / self.batch(window_s)

    def batch_size(self, window_s: float) -> float:
        """Bytes."""
        return BATCH_HEADER + self.batch(window_s) * (self.size + RECORD_HEADER)


def shared(rate: float, each_s: float) -> float:
    """How often something happens that takes a while and, once done, serves all that came."""
    return rate / (1 + rate * each_s)
