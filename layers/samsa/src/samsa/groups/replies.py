"""The answers of a step."""

from typing import NamedTuple

from .assignors import Partitions
from .errors import GroupError
from .requests import Join, Sync


class JoinedMember(NamedTuple):
    member_id: str
    instance_id: str | None
    metadata: bytes


class Joined(NamedTuple):
    error: GroupError | None
    member_id: str
    generation: int = -1
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = ""
    members: tuple[JoinedMember, ...] = ()
    """For the leader only."""
    skip_assignment: bool = False


class Synced(NamedTuple):
    error: GroupError | None
    assignment: bytes = b""
    protocol_type: str | None = None
    protocol: str | None = None


class HeartbeatAnswer(NamedTuple):
    error: GroupError | None


class LeftMember(NamedTuple):
    member_id: str
    instance_id: str | None
    error: GroupError | None


class Left(NamedTuple):
    error: GroupError | None
    members: tuple[LeftMember, ...] = ()


class Parked(NamedTuple):
    """No answer yet. The group's state says that the member waits. Ask again when woken, or at the
    deadline."""

    deadline_ms: int
    ask: Join | Sync
    """The request to ask then."""


class ConsumerHeartbeatAnswer(NamedTuple):
    error: GroupError | None
    member_id: str = ""
    epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: Partitions | None = None
    """None: not changed since the member was last told."""
