"""A group of the consumer protocol (KIP-848), as it is stored between requests.

The coordinator assigns. Each change of members, subscriptions or topics makes a new group epoch,
for which the target assignment is computed. The answers to its heartbeats then move every member to
its target, at its own pace. Some members may still use the classic protocol.
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
    """It must revoke partitions before its epoch advances."""
    UNRELEASED = 2
    """Some of its target partitions are not yet revoked by their former owners."""


class ClassicSide(NamedTuple):
    """The additional fields of a member that uses the classic protocol."""

    session_timeout_ms: int
    protocols: Protocols
    join_by_ms: int = NEVER
    """It was asked to join again, and must do so by then."""
    sync_by_ms: int = NEVER
    """It joined, and must sync by then."""


class ConsumerMember(NamedTuple):
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    topics: tuple[str, ...]
    """Topic names that it subscribes to, sorted."""
    pattern: str
    """The regular expression that it subscribes to as well; empty for none."""
    assignor: str | None
    epoch: int
    """−2: a static member that is away for a while."""
    previous_epoch: int
    state: MemberState
    assigned: Partitions
    """Its partitions: no other member gets these."""
    revoking: Partitions
    """Partitions that it must revoke, and may still read."""
    session_ends_ms: int
    """A lower bound: see `heartbeat_coalescing`."""
    revoke_by_ms: int = NEVER
    classic: ClassicSide | None = None
    answered_by: str = ""
    """The process that answers its heartbeats: see `heartbeat_coalescing`."""

    @property
    def act_by_ms(self) -> int:
        """When it must have revoked partitions, joined or synced."""
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
    """Patterns of members → the topics that they matched then."""
    changed_at_ms: int = 0
    """When a member last joined or left."""
    due_ms: int = NEVER
    """Nothing in the group expires before this."""
    topics_at_ms: int = 0
    """When a process looked up the topics as they are noted here."""
    written_at_ms: int = 0
    """As in a classic group."""

    @property
    def is_empty(self) -> bool:
        return not self.members

    def target(self, member_id: str) -> Partitions:
        return self.targets.get(member_id, NOTHING)
