"""What the server counts: plain integers on the hot path, read for metrics and at the end."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from time import monotonic, perf_counter
from typing import Protocol

from samsa.wire.apis import ApiKey
from samsa.wire.frame import KafkaRequest

from .latency import Latencies


class Began(Protocol):
    @property
    def began_s(self) -> float: ...


@dataclass(slots=True)
class ServerStats:
    bytes_in: int = 0
    bytes_out: int = 0
    accepted: int = 0
    refused: int = 0
    requests: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    let_go: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """Connections that the server closed, by reason."""
    throttled: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """Requests and connections that were told to wait, by quota."""
    throttled_ms: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """How long, together."""
    began_s: float = field(default_factory=monotonic)
    latencies: Latencies | None = None
    """None: they are not counted."""

    @property
    def uptime_s(self) -> float:
        return round(monotonic() - self.began_s, 1)

    def note_answer(self, request: KafkaRequest, began_s: float) -> None:
        if self.latencies is not None and request.api_key == ApiKey.FETCH:
            self.latencies.fetch.add(perf_counter() - began_s)

    def note_produces(self, answered: Iterable[Began]) -> None:
        """Those that began before anybody wanted to know do not count."""
        if self.latencies is not None:
            now = perf_counter()
            for each in answered:
                if each.began_s:
                    self.latencies.produce.add(now - each.began_s)
