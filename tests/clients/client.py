"""What every client can be asked to do, whatever language it is written in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PATIENCE = 30.0  # seconds that a client may take for one operation

Headers = tuple[tuple[str, bytes], ...]
Isolation = Literal["read_committed", "read_uncommitted"]
Start = Literal["earliest", "latest"] | int  # a number is a timestamp in milliseconds


@dataclass(frozen=True)
class Record:
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    timestamp: int | None = None
    partition: int | None = None
    offset: int | None = None

    @property
    def content(self) -> tuple[bytes | None, bytes | None, Headers]:
        """What the producer meant, without what the broker added."""
        return self.key, self.value, self.headers


@dataclass(frozen=True)
class Cluster:
    brokers: list[str]  # host:port
    topics: dict[str, int] = field(default_factory=dict)  # name and number of partitions


class Client(Protocol):
    """Settings are the client's defaults. `max_bytes` is set only where a message needs it."""

    def produce(
        self,
        topic: str,
        records: Sequence[Record],
        codec: str = "none",
        partition: int | None = None,
        max_bytes: int | None = None,
    ) -> list[int]:
        """Offsets in the order of the records; no partition means that the client chooses."""

    def consume(
        self,
        topic: str,
        start: Start,
        count: int,
        partition: int | None = None,
        isolation: Isolation | None = None,
    ) -> list[Record]:
        """The next `count` records of one partition, or of all; fewer is an error."""

    def create_topic(self, topic: str, partitions: int, config: Mapping[str, str]) -> None: ...

    def delete_topic(self, topic: str) -> None: ...

    def add_partitions(self, topic: str, total: int) -> None: ...

    def own_configs(self, topic: str) -> dict[str, str]:
        """What the topic has of its own: not the defaults."""

    def alter_configs(self, topic: str, config: Mapping[str, str]) -> None:
        """Set these. A client that knows only the older API resets all others."""

    def delete_records(self, topic: str, partition: int, before: int) -> None: ...

    def describe(self) -> Cluster: ...

    def close(self) -> None: ...
