"""The request that is being served: a function serves one at a time.

Handlers know neither connections nor sequence numbers. The ports that they use (wake-ups, nonces,
the clock) depend on both here, and read them from the current request's scope.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from samsa.ports import Awaited, Clock, Partition


@dataclass(slots=True)
class Parking:
    """What the request would have waited for, and how long."""

    awaited: tuple[Awaited, ...]
    wait_ms: int
    look_again_ms: int | None = None
    """After this time its answer may be another one although nothing has changed."""


@dataclass(slots=True)
class RequestScope:
    connection_id: str = ""
    seq: int = 0
    waited_ms: int = 0
    """How long the client has waited for this very request."""
    pinned: bool = False
    """Its nonce is the same each time that this request is sent."""
    stands_still_ms: int | None = None
    """The clock's time during all of this request: the function's own run time does not count as
    time that the client has waited."""
    parking: Parking | None = None
    watched: set[Partition] = field(default_factory=set)


class CurrentRequest:
    """Holds the request that is being served."""

    def __init__(self) -> None:
        self.scope = RequestScope()


class RequestClock:
    def __init__(self, current: CurrentRequest, clock: Clock) -> None:
        self._current = current
        self._clock = clock

    def now_ms(self) -> int:
        still = self._current.scope.stands_still_ms
        return self._clock.now_ms() if still is None else still


class Nonces:
    """Fresh nonces; but a join that is sent again gets the same one, and is recognised by it."""

    def __init__(self, current: CurrentRequest, fresh: Callable[[], str]) -> None:
        self._current = current
        self._fresh = fresh

    def __call__(self) -> str:
        scope = self._current.scope
        return f"{scope.connection_id} {scope.seq}" if scope.pinned else self._fresh()
