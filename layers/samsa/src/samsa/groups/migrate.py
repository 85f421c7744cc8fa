"""Groups that move between the two protocols while their members keep working.

A classic group of consumers becomes a group of the consumer protocol when the first member with
that protocol joins, and a classic group again when the last one has left. Epochs continue from
generations and generations from epochs, so that an old commit never looks newer than a later one.
"""

from .assignors import Partitions
from .classic_draft import ClassicDraft
from .classic_rebalance import prepare
from .classic_state import ClassicGroup, ClassicMember, ClassicState, Stage, next_number
from .consumer_classic import by_id, by_name
from .consumer_state import ClassicSide, ConsumerGroup, ConsumerMember, MemberState
from .embedded import (
    PROTOCOL_TYPE,
    EmbeddedSubscription,
    Malformed,
    read_assignment,
    read_subscription,
    read_version,
    write_assignment,
)
from .requests import Topics
from .settings import GroupSettings


def can_upgrade(group: ClassicGroup, settings: GroupSettings) -> bool:
    return group.protocol_type == PROTOCOL_TYPE and len(group.members) <= settings.consumer_max_size


def to_consumer(group: ClassicGroup, known: Topics, now_ms: int) -> ConsumerGroup:
    """All members keep their partitions, and their heartbeats will ask them to join again. During a
    rebalance some partitions may have no owner: then the group gets a new epoch, so that these are
    assigned. Raises Malformed."""
    subscriptions = {
        member_id: read_subscription(_metadata(group, member))
        for member_id, member in group.members.items()
    }
    has = _held(group, subscriptions, known)
    members = {
        member_id: _as_consumer(group, member, subscriptions[member_id], has[member_id], now_ms)
        for member_id, member in group.members.items()
    }
    names = sorted({name for member in members.values() for name in member.topics})
    epoch = group.generation
    return ConsumerGroup(
        epoch=epoch if group.state is ClassicState.STABLE else next_number(epoch),
        assignment_epoch=group.generation,
        members=members,
        targets={each: partitions for each, partitions in has.items() if partitions},
        topics={name: known[name] for name in names if name in known},
        changed_at_ms=now_ms,
    )


def _metadata(group: ClassicGroup, member: ClassicMember) -> bytes:
    return member.metadata(group.protocol) or member.protocols[0][1]


def _held(
    group: ClassicGroup, subscriptions: dict[str, EmbeddedSubscription], known: Topics
) -> dict[str, Partitions]:
    """The partitions that each member was assigned. During a rebalance these are not known any
    more; then those that it owned when it joined: no other member may get them before it revokes
    them."""
    has = {
        member_id: by_id(read_assignment(member.assignment), known)
        for member_id, member in group.members.items()
    }
    taken = frozenset[object]().union(*has.values())
    for member_id, subscription in subscriptions.items():
        more = by_id(subscription.owned, known) - taken
        has[member_id] |= more
        taken |= more
    return has


def _as_consumer(
    group: ClassicGroup,
    member: ClassicMember,
    subscription: EmbeddedSubscription,
    assigned: Partitions,
    now_ms: int,
) -> ConsumerMember:
    return ConsumerMember(
        instance_id=member.instance_id,
        rack_id=subscription.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        topics=tuple(sorted(set(subscription.topics))),
        pattern="",
        assignor=None,
        epoch=group.generation,
        previous_epoch=group.generation,
        state=MemberState.STABLE,
        assigned=assigned,
        revoking=frozenset(),
        session_ends_ms=now_ms + member.session_timeout_ms,
        classic=ClassicSide(member.session_timeout_ms, member.protocols),
    )


def must_downgrade(group: ConsumerGroup) -> bool:
    return bool(group.members) and all(member.classic for member in group.members.values())


def to_classic(group: ConsumerGroup, now_ms: int, settings: GroupSettings) -> ClassicGroup:
    """The group's members, all of them classic, must join again."""
    members = {}
    for member_id, member in group.members.items():
        assert member.classic
        members[member_id] = _as_classic(member, member.classic, group.topics, now_ms)
    stable = ClassicGroup(
        state=ClassicState.STABLE,
        generation=group.epoch,
        protocol_type=PROTOCOL_TYPE,
        leader=next(iter(members)),
        members=members,
    )
    draft = ClassicDraft(stable, now_ms, settings)
    draft.protocol = draft.elect_protocol()
    prepare(draft)
    return draft.group()


def _as_classic(
    member: ConsumerMember, side: ClassicSide, topics: Topics, now_ms: int
) -> ClassicMember:
    version = read_version(side.protocols[0][1])
    return ClassicMember(
        instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        session_timeout_ms=side.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        protocols=side.protocols,
        stage=Stage.SETTLED,
        deadline_ms=now_ms + side.session_timeout_ms,
        is_new=False,
        ticket="",
        waiter="",
        assignment=write_assignment(version, by_name(member.holds, topics)),
    )


__all__ = ["Malformed", "can_upgrade", "must_downgrade", "to_classic", "to_consumer"]
