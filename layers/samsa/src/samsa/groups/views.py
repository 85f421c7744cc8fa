"""What DescribeGroups, ConsumerGroupDescribe and ListGroups show of a group as it is now."""

from typing import NamedTuple

from .assignors import Partitions
from .classic_state import ClassicGroup, ClassicState
from .consumer_draft import ConsumerDraft
from .consumer_state import ConsumerGroup, ConsumerMember, MemberState
from .embedded import PROTOCOL_TYPE
from .requests import Topics
from .settings import DEFAULTS, GroupSettings
from .step import Group, expire

DEAD = "Dead"
"""The state of a group that does not exist."""
_CLASSIC_NAMES = {
    ClassicState.EMPTY: "Empty",
    ClassicState.PREPARING_REBALANCE: "PreparingRebalance",
    ClassicState.COMPLETING_REBALANCE: "CompletingRebalance",
    ClassicState.STABLE: "Stable",
}


class Listed(NamedTuple):
    state: str
    kind: str
    """Kafka's group type: `classic` or `consumer`."""
    protocol_type: str


class DescribedMember(NamedTuple):
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes
    assignment: bytes


class Described(NamedTuple):
    state: str
    protocol_type: str
    protocol: str
    members: tuple[DescribedMember, ...]


class DescribedConsumer(NamedTuple):
    member_id: str
    instance_id: str | None
    rack_id: str | None
    epoch: int
    client_id: str
    client_host: str
    topics: tuple[str, ...]
    pattern: str
    assigned: Partitions
    target: Partitions
    is_classic: bool


class ConsumerDescribed(NamedTuple):
    state: str
    epoch: int
    assignment_epoch: int
    assignor: str
    members: tuple[DescribedConsumer, ...]
    topics: Topics
    """For the names of the topics in the assignments."""


def state_of(group: Group) -> str:
    """As Kafka prints it."""
    if isinstance(group, ClassicGroup):
        return _CLASSIC_NAMES[group.state]
    if not group.members:
        return "Empty"
    if group.epoch > group.assignment_epoch:
        return "Assigning"
    settled = all(_is_settled(member, group) for member in group.members.values())
    return "Stable" if settled else "Reconciling"


def _is_settled(member: ConsumerMember, group: ConsumerGroup) -> bool:
    return member.state is MemberState.STABLE and member.epoch == group.assignment_epoch


def listed(group: Group, now_ms: int) -> Listed:
    current = expire(group, now_ms)
    if isinstance(current, ClassicGroup):
        return Listed(state_of(current), "classic", current.protocol_type or "")
    return Listed(state_of(current), "consumer", PROTOCOL_TYPE)


def described(group: Group, now_ms: int) -> Described | None:
    """None for a group of the consumer protocol: DescribeGroups does not show these."""
    current = expire(group, now_ms)
    if not isinstance(current, ClassicGroup):
        return None
    # As in Kafka, metadata and assignments are shown only while they belong together.
    stable = current.state is ClassicState.STABLE
    members = tuple(
        DescribedMember(
            member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            member.metadata(current.protocol) if stable else b"",
            member.assignment if stable else b"",
        )
        for member_id, member in current.members.items()
    )
    protocol = (current.protocol or "") if stable else ""
    return Described(state_of(current), current.protocol_type or "", protocol, members)


def consumer_described(
    group: Group, now_ms: int, settings: GroupSettings = DEFAULTS
) -> ConsumerDescribed | None:
    """None for a classic group."""
    current = expire(group, now_ms)
    if not isinstance(current, ConsumerGroup):
        return None
    members = tuple(
        DescribedConsumer(
            member_id,
            member.instance_id,
            member.rack_id,
            member.epoch,
            member.client_id,
            member.client_host,
            member.topics,
            member.pattern,
            member.assigned,
            current.target(member_id),
            member.classic is not None,
        )
        for member_id, member in current.members.items()
    )
    assignor = ConsumerDraft(current, now_ms, settings).elected_assignor()
    return ConsumerDescribed(
        state_of(current),
        current.epoch,
        current.assignment_epoch,
        assignor,
        members,
        current.topics,
    )
