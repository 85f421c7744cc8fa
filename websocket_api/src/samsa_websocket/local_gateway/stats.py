"""Counters for tests and for `/_local/stats`: what AWS would bill."""

from dataclasses import asdict, dataclass


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
    invocations: int = 0
    failed: int = 0
    throttled: int = 0
    running: int = 0
    longest_ms: float = 0.0
    """Of the invocations since the last reading."""

    def sent(self, size: int) -> None:
        self.messages_out += 1
        self.bytes_out += size

    def received(self, size: int) -> None:
        self.messages_in += 1
        self.bytes_in += size

    def ran(self, seconds: float) -> None:
        self.longest_ms = max(self.longest_ms, seconds * 1000)

    def read(self) -> dict[str, float]:
        now = asdict(self)
        self.longest_ms = 0.0
        return now
