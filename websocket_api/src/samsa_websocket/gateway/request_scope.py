"""What a function knows of one request besides its frame, and what it learns while it serves it.

It is passed from call to call: nothing in the process says which request is being served.
"""

from dataclasses import dataclass, field

from samsa.ports import Awaited, Partition


@dataclass(slots=True)
class Parking:
    """What the request would have waited for, and how long."""

    awaited: tuple[Awaited, ...]
    wait_ms: int
    look_again_ms: int | None = None
    """After this time its answer may be another one although nothing has changed."""


class StoppedClock:
    """Always the time at which the request came: the function's own run time does not count as time
    that the client has waited."""

    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms


@dataclass(slots=True)
class RequestScope:
    connection_id: str = ""
    since: int = 0
    """When the connection was opened (ms), as API Gateway tells."""
    seq: int = 0
    waited_ms: int = 0
    """How long the client has waited for this very request."""
    lingers: bool = False
    """As in `RequestPorts`."""
    parking: Parking | None = None
    """Set when the request would have waited."""
    watched: set[Partition] = field(default_factory=set)
    """The partitions that its connection watches since this request."""

    def same_nonce(self) -> str:
        """The same each time that this request is sent: a join is recognised by it."""
        return f"{self.connection_id} {self.seq}"
