"""Counters for tests and for `/_local/stats`: what AWS would bill."""

from dataclasses import asdict, dataclass
from math import ceil

METERED_BYTES = 32 * 1024
"""API Gateway bills a message for each 32 KB of it."""


@dataclass(slots=True)
class GatewayStats:
    connections: int = 0
    refused: int = 0
    messages_in: int = 0
    bytes_in: int = 0
    messages_out: int = 0
    bytes_out: int = 0
    pushed: int = 0
    """Messages out that came through @connections."""
    metered: int = 0
    """Messages in either direction, as they are billed."""
    connection_s: float = 0.0
    """Of connections that have ended."""
    invocations: int = 0
    gb_s: float = 0.0
    """Memory and time of the invocations, with the start of their environments."""
    failed: int = 0
    throttled: int = 0
    running: int = 0
    longest_ms: float = 0.0
    """Of the invocations since the last reading."""

    def sent(self, size: int) -> None:
        self.messages_out += 1
        self.bytes_out += size
        self._meter(size)

    def received(self, size: int) -> None:
        self.messages_in += 1
        self.bytes_in += size
        self._meter(size)

    def _meter(self, size: int) -> None:
        self.metered += max(1, ceil(size / METERED_BYTES))

    def ran(self, seconds: float) -> None:
        self.longest_ms = max(self.longest_ms, seconds * 1000)

    def billed(self, memory_mb: int, seconds: float) -> None:
        """Lambda bills whole milliseconds."""
        self.gb_s += memory_mb / 1024 * ceil(seconds * 1000) / 1000

    def read(self) -> dict[str, float]:
        now = asdict(self)
        self.longest_ms = 0.0
        return now
