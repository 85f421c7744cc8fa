"""Whether offsets may be committed, fetched or deleted, and groups deleted.

The checks use the group as it is now (see `expire`), and answer as Kafka does. None means yes.
"""

from .classic_state import NEVER, ClassicGroup, ClassicState
from .consumer_state import ConsumerGroup
from .embedded import PROTOCOL_TYPE, Malformed, read_topics
from .errors import GroupError
from .step import Group, expire


def may_commit(
    group: Group | None,
    member_id: str,
    instance_id: str | None,
    generation: int,
    now_ms: int,
) -> GroupError | None:
    """A generation (or member epoch) below 0 comes from a non-member: an admin tool, or a consumer
    that assigns its partitions itself. It may commit while the group has no members."""
    if group is None:
        return None if generation < 0 else GroupError.ILLEGAL_GENERATION
    current = expire(group, now_ms)
    if generation < 0 and current.is_empty:
        return None
    if isinstance(current, ConsumerGroup):
        return _why_stale(current, member_id, generation) or _why_early(current, member_id)
    return _why_fenced(current, member_id, instance_id, generation)


def may_commit_transactional(
    group: Group | None,
    member_id: str,
    instance_id: str | None,
    generation: int,
    now_ms: int,
) -> GroupError | None:
    """The same for offsets of a transaction (KIP-447). Older producers name no member: then nothing
    is checked, and the transaction itself fences other producers."""
    if generation < 0 and not member_id and instance_id is None:
        return None
    error = may_commit(group, member_id, instance_id, generation, now_ms)
    is_late = error is GroupError.REBALANCE_IN_PROGRESS and isinstance(group, ClassicGroup)
    return None if is_late else error


def may_fetch(
    group: Group | None, member_id: str | None, epoch: int, now_ms: int
) -> GroupError | None:
    """Only groups of the consumer protocol check the member, and only if the request names one."""
    if group is None or (member_id is None and epoch < 0):
        return None
    current = expire(group, now_ms)
    if isinstance(current, ConsumerGroup):
        return _why_stale(current, member_id or "", epoch)
    return None


def _why_stale(group: ConsumerGroup, member_id: str, epoch: int) -> GroupError | None:
    member = group.members.get(member_id)
    if member is None:
        return GroupError.UNKNOWN_MEMBER_ID
    if member.epoch == epoch:
        return None
    return GroupError.ILLEGAL_GENERATION if member.classic else GroupError.STALE_MEMBER_EPOCH


def _why_early(group: ConsumerGroup, member_id: str) -> GroupError | None:
    """Refuse a classic member that has joined and does not know its assignment yet: the partition
    may belong to another member by now. Kafka allows this commit."""
    side = group.members[member_id].classic
    return GroupError.REBALANCE_IN_PROGRESS if side and side.sync_by_ms != NEVER else None


def _why_fenced(
    group: ClassicGroup, member_id: str, instance_id: str | None, generation: int
) -> GroupError | None:
    member = group.members.get(member_id)
    if instance_id is not None and (member is None or member.instance_id != instance_id):
        known = any(each.instance_id == instance_id for each in group.members.values())
        return GroupError.FENCED_INSTANCE_ID if known else GroupError.UNKNOWN_MEMBER_ID
    if member is None:
        return GroupError.UNKNOWN_MEMBER_ID
    if generation != group.generation:
        return GroupError.ILLEGAL_GENERATION
    if group.state is ClassicState.COMPLETING_REBALANCE:
        return GroupError.REBALANCE_IN_PROGRESS
    return None


def may_delete(group: Group | None, topic: str | None, now_ms: int) -> GroupError | None:
    """Whether the offsets of a topic may be deleted; topic None: the group and all its offsets."""
    if group is None:
        return GroupError.GROUP_ID_NOT_FOUND
    current = expire(group, now_ms)
    if current.is_empty:
        return None
    if topic is None:
        return GroupError.NON_EMPTY_GROUP
    topics = subscribed_topics(current)
    if topics is None:
        consumers = isinstance(current, ClassicGroup) and current.protocol_type == PROTOCOL_TYPE
        return GroupError.GROUP_SUBSCRIBED_TO_TOPIC if consumers else GroupError.NON_EMPTY_GROUP
    return GroupError.GROUP_SUBSCRIBED_TO_TOPIC if topic in topics else None


def subscribed_topics(group: Group) -> set[str] | None:
    """None: the subscriptions are not known."""
    if isinstance(group, ConsumerGroup):
        names = {name for member in group.members.values() for name in member.topics}
        return names.union(*group.matches.values())
    if group.protocol_type != PROTOCOL_TYPE or (group.members and group.protocol is None):
        return None
    try:
        return {
            name
            for member in group.members.values()
            for name in read_topics(member.metadata(group.protocol))
        }
    except Malformed:
        return None
