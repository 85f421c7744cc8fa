"""What can happen to a classic group. A sync and a heartbeat are such events themselves."""

from typing import NamedTuple, TypeAlias

from .replies import Beaten, Joined, Left, Parked, Synced
from .requests import Join

Answer: TypeAlias = Joined | Synced | Beaten | Left | Parked


class Newcomer(NamedTuple):
    """A join by someone who is not a member."""

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
    """The latest join of a member, once more."""

    member_id: str
    join: Join


class MemberGone(NamedTuple):
    """Members have left or their sessions have ended."""


class IdLapsed(NamedTuple):
    """An id that was given to a client is not waited for any longer."""


class PhaseEnd(NamedTuple):
    """Those who have not joined, or not synced, have had their time."""
