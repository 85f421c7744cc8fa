"""The events of a classic group. The requests Sync and Heartbeat are events themselves."""

from typing import NamedTuple, TypeAlias

from .replies import HeartbeatAnswer, Joined, Left, Parked, Synced
from .requests import Join

Answer: TypeAlias = Joined | Synced | HeartbeatAnswer | Left | Parked


class NewMember(NamedTuple):
    """A join by a client that is not a member."""

    member_id: str
    join: Join


class Replacement(NamedTuple):
    """A join without a member id by an instance that is a member (KIP-345)."""

    old_id: str
    member_id: str
    join: Join


class Rejoin(NamedTuple):
    """A new join by a member."""

    member_id: str
    join: Join


class LookAgain(NamedTuple):
    """The latest join of a member, asked again: it has the same ticket."""

    member_id: str
    join: Join


class MemberGone(NamedTuple):
    """Members have left or their sessions have ended."""


class IdLapsed(NamedTuple):
    """A member id that was given to a client has expired unused, or was given back."""


class PhaseEnd(NamedTuple):
    """The time for members to join, or to sync, is over."""
