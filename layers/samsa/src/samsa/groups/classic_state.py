"""A group of the classic protocol, as it is stored between requests."""

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from .requests import Protocols

NEVER = 1 << 62
_LAST_NUMBER = 2**31 - 1


def next_number(generation: int) -> int:
    """The next generation or epoch. It has 32 bits on the wire; after the last one comes 1."""
    return generation % _LAST_NUMBER + 1


class ClassicState(IntEnum):
    """Kafka's states. A group that is not stored is `Dead`."""

    EMPTY = 0
    PREPARING_REBALANCE = 1
    COMPLETING_REBALANCE = 2
    STABLE = 3

    __hash__ = int.__hash__  # an enum's own is slow, and every request looks a state up


class Stage(IntEnum):
    """What a member is about to do, or waits for."""

    SETTLED = 0
    """It knows its assignment. While the group prepares to rebalance: it must join again."""
    JOINING = 1
    """It sent a join that is not answered yet. The join may be parked."""
    JOINED = 2
    """Its join can be answered with the generation. It must sync next."""
    SYNCING = 3
    """It sent a sync, and the leader has not sent the assignments. The sync may be parked."""


_JOINING, _SYNCING = Stage.JOINING, Stage.SYNCING


class ClassicMember(NamedTuple):
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: Protocols
    stage: Stage
    deadline_ms: int
    """When its session ends at the earliest. A parked member's session does not end."""
    is_new: bool
    """Its first join is still parked. Then its session ends even while it is parked."""
    ticket: str
    """The ticket of its latest join."""
    waiter: str
    """The address of the process that parks its join or sync."""
    assignment: bytes = b""
    answered_by: str = ""
    """The process that answers its heartbeats: see `heartbeat_coalescing`."""

    @property
    def is_parked(self) -> bool:
        stage = self.stage
        return stage is _JOINING or stage is _SYNCING

    @property
    def expires_ms(self) -> int:
        return NEVER if self.is_parked and not self.is_new else self.deadline_ms

    def metadata(self, protocol: str | None) -> bytes:
        return next((data for name, data in self.protocols if name == protocol), b"")


class ClassicGroup(NamedTuple):
    state: ClassicState = ClassicState.EMPTY
    generation: int = 0
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str | None = None
    members: Mapping[str, ClassicMember] = {}
    """By member id, in the order in which they joined. Never changed in place."""
    pending: Mapping[str, int] = {}
    """Ids that were given to clients which have not joined with them yet → when they expire."""
    changed_at_ms: int = 0
    """When the state last changed."""
    phase_ends_ms: int = NEVER
    """When the rebalance continues without members that have not joined, or not synced."""
    first_phase_ends_ms: int = 0
    """An empty group's first join phase is not prolonged past this; 0: not in that phase."""
    newcomers: bool = False
    """Whether a member joined since that phase was last prolonged."""
    due_ms: int = NEVER
    """Nothing in the group expires before this."""
    written_at_ms: int = 0
    """By the clock of the process that wrote it. Every deadline is at most its own timeout later
    than this."""

    @property
    def is_empty(self) -> bool:
        return self.state is ClassicState.EMPTY
