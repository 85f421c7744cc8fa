"""What the server counts: plain integers on the hot path, read for metrics and at the end."""

from collections import defaultdict
from dataclasses import dataclass, field


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
