"""The request that is being served: a function serves one at a time.

Handlers know neither connections nor sequence numbers. What they ask of the ports (an address to be
woken at, a fresh word, a place to wait) depends on them here, and finds them in the visit.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from samsa.ports import Awaited, Clock, Partition


@dataclass(slots=True)
class Parking:
    """The request would have waited, for these and so long."""

    awaited: tuple[Awaited, ...]
    wait_ms: int


@dataclass(slots=True)
class Visit:
    connection_id: str = ""
    seq: int = 0
    waited_ms: int = 0
    """How long the client has waited for this very request."""
    pinned: bool = False
    """A word that this request asks for is the same each time that it is sent."""
    stands_still_ms: int | None = None
    """The time for all of this request: what a function takes is not what a client has waited."""
    parking: Parking | None = None
    watched: set[Partition] = field(default_factory=set)


class Door:
    """Where whoever needs the present visit finds it."""

    def __init__(self) -> None:
        self.visit = Visit()


class VisitClock:
    def __init__(self, door: Door, clock: Clock) -> None:
        self._door = door
        self._clock = clock

    def now_ms(self) -> int:
        still = self._door.visit.stands_still_ms
        return self._clock.now_ms() if still is None else still


class Nonces:
    """Fresh words; but a join that is sent again is recognised by its word."""

    def __init__(self, door: Door, fresh: Callable[[], str]) -> None:
        self._door = door
        self._fresh = fresh

    def __call__(self) -> str:
        visit = self._door.visit
        return f"{visit.connection_id} {visit.seq}" if visit.pinned else self._fresh()
