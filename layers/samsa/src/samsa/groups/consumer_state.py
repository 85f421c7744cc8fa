"""A group of the consumer protocol (KIP-848), as it is kept between requests.

The coordinator assigns. Each change of members, subscriptions or topics makes a new group epoch;
the target assignment is computed for it; and every member is led to its target, at its own pace, by
the answers to its heartbeats. Members that still speak the classic protocol may be among them.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple
from uuid import UUID

from .assignors import NOTHING, Partitions
from .classic_state import NEVER
from .requests import ConsumerHeartbeat, Join, Protocols, TopicInfo

LEAVE_EPOCH = -1
STATIC_LEAVE_EPOCH = -2
NO_TOPIC = TopicInfo(UUID(int=0), 0)
"""A topic that is subscribed to and does not exist."""


class MemberState(IntEnum):
    STABLE = 0
    """It has what it should have in its epoch."""
    UNREVOKED = 1
    """It must let go of partitions before it may go on."""
    UNRELEASED = 2
    """Some of its partitions are not let go by their former owners yet."""


class ClassicSide(NamedTuple):
    """What a member that speaks the classic protocol brings along."""

    session_timeout_ms: int
    protocols: Protocols
    join_by_ms: int = NEVER
    """It was called to join again."""
    sync_by_ms: int = NEVER
    """It joined, and must ask for its assignment."""


class ConsumerMember(NamedTuple):
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    topics: tuple[str, ...]
    """Names that it subscribes to, sorted."""
    pattern: str
    """And what else it subscribes to; empty for none."""
    assignor: str | None
    epoch: int
    """−2: a static member that is away for a while."""
    previous_epoch: int
    state: MemberState
    assigned: Partitions
    """Its own: nobody else gets these."""
    revoking: Partitions
    """No longer its own, but it may still read them."""
    session_ends_ms: int
    """At the earliest."""
    revoke_by_ms: int = NEVER
    classic: ClassicSide | None = None
    hearer: str = ""
    """The process that answers its heartbeats: see `hearing`."""

    @property
    def act_by_ms(self) -> int:
        """When it must have let go of partitions, joined or synced."""
        side = self.classic
        own = self.revoke_by_ms
        return min(own, side.join_by_ms, side.sync_by_ms) if side else own

    @property
    def expires_ms(self) -> int:
        return min(self.session_ends_ms, self.act_by_ms)

    @property
    def holds(self) -> Partitions:
        return self.assigned | self.revoking


def newcomer(request: ConsumerHeartbeat | Join) -> ConsumerMember:
    return ConsumerMember(
        instance_id=request.instance_id,
        rack_id=None,
        client_id=request.client_id,
        client_host=request.client_host,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        topics=(),
        pattern="",
        assignor=None,
        epoch=0,
        previous_epoch=0,
        state=MemberState.STABLE,
        assigned=NOTHING,
        revoking=NOTHING,
        session_ends_ms=0,
    )


class ConsumerGroup(NamedTuple):
    epoch: int = 0
    assignment_epoch: int = 0
    """The group epoch that the targets are for."""
    members: Mapping[str, ConsumerMember] = {}
    targets: Mapping[str, Partitions] = {}
    topics: Mapping[str, TopicInfo] = {}
    """What was known of the subscribed topics at the latest group epoch."""
    matches: Mapping[str, tuple[str, ...]] = {}
    """Patterns of members → the topics that they stood for then."""
    changed_at_ms: int = 0
    """When members last came or went."""
    due_ms: int = NEVER
    """Nothing in the group expires before this."""
    topics_at_ms: int = 0
    """When someone looked at the topics as they are noted here."""
    written_at_ms: int = 0
    """As of a classic group."""

    @property
    def is_empty(self) -> bool:
        return not self.members

    def target(self, member_id: str) -> Partitions:
        return self.targets.get(member_id, NOTHING)
