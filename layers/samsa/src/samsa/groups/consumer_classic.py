"""Members of the classic protocol in a group of the consumer protocol.

With these a group moves from one protocol to the other without a stop. For such a member the epoch
is the generation, the coordinator is the leader, and no request waits: a join is answered at once,
a sync with what the member has so far, and a heartbeat asks it to join again when there is more to
do.
"""

from collections.abc import Callable
from typing import Any

from .assignors import NOTHING, Partitions
from .classic_state import NEVER
from .consumer import why_not_member
from .consumer_draft import ConsumerDraft
from .consumer_state import ClassicSide, MemberState, newcomer
from .embedded import (
    PROTOCOL_TYPE,
    EmbeddedSubscription,
    Malformed,
    NamedPartition,
    read_subscription,
    read_version,
    write_assignment,
)
from .errors import GroupError
from .replies import HeartbeatAnswer, Joined, Left, LeftMember, Synced
from .requests import (
    Heartbeat,
    Join,
    Leave,
    Leaving,
    Sync,
    Topics,
    fresh_id,
    rebalance_timeout,
)

# Join


def join(draft: ConsumerDraft, request: Join) -> Joined:
    member_id = request.member_id or fresh_id(request)
    if request.again:
        return _turn_away(draft, member_id)
    error = _why_not_join(draft, member_id, request)
    if error:
        return Joined(error, request.member_id)
    if not request.member_id and request.instance_id is None and request.requires_id:
        return Joined(GroupError.MEMBER_ID_REQUIRED, member_id)
    error = _take_place(draft, member_id, request)
    if error:
        return Joined(error, request.member_id)
    try:
        subscription = read_subscription(request.protocols[0][1])
    except Malformed:
        return Joined(GroupError.INCONSISTENT_GROUP_PROTOCOL, request.member_id)
    return _note(draft, member_id, request, subscription)


def _turn_away(draft: ConsumerDraft, member_id: str) -> Joined:
    """Refuse a join that was parked while the group was a classic one."""
    if member_id in draft.members:
        return Joined(GroupError.REBALANCE_IN_PROGRESS, member_id)
    return Joined(GroupError.UNKNOWN_MEMBER_ID, "")


def _why_not_join(draft: ConsumerDraft, member_id: str, request: Join) -> GroupError | None:
    limits = draft.settings
    timeout = request.session_timeout_ms
    if not limits.min_session_timeout_ms <= timeout <= limits.max_session_timeout_ms:
        return GroupError.INVALID_SESSION_TIMEOUT
    if len(draft.members) >= limits.consumer_max_size and member_id not in draft.members:
        return GroupError.GROUP_MAX_SIZE_REACHED
    if request.protocol_type != PROTOCOL_TYPE or not _is_common(draft, request):
        return GroupError.INCONSISTENT_GROUP_PROTOCOL
    return None


def _is_common(draft: ConsumerDraft, request: Join) -> bool:
    sides = [member.classic for member in draft.members.values() if member.classic]
    offers = [{name for name, _ in side.protocols} for side in sides]
    return any(all(name in offer for offer in offers) for name, _ in request.protocols)


def _take_place(draft: ConsumerDraft, member_id: str, request: Join) -> GroupError | None:
    if request.instance_id is None:
        return None
    if request.member_id:
        return why_not_member(draft, member_id, request.instance_id)
    current = draft.static_id(request.instance_id)
    if current is not None:
        draft.rename(current, member_id)
    return None


def _note(
    draft: ConsumerDraft, member_id: str, request: Join, subscription: EmbeddedSubscription
) -> Joined:
    timeout = rebalance_timeout(request, draft.settings)
    side = ClassicSide(
        request.session_timeout_ms, request.protocols, sync_by_ms=draft.now + timeout
    )
    before = draft.members.get(member_id) or newcomer(request)
    member = before._replace(
        client_id=request.client_id,
        client_host=request.client_host,
        rack_id=subscription.rack_id or before.rack_id,
        rebalance_timeout_ms=timeout,
        topics=tuple(sorted(set(subscription.topics))),
        pattern="",
        revoke_by_ms=NEVER,
        classic=side,
    )
    draft.put(member_id, member)
    draft.prolong_session(member_id)
    draft.follow_topics(request.known, request.matches, request.known_at_ms)
    draft.assign()
    draft.advance(member_id, by_id(subscription.owned, draft.topics))
    epoch = draft.members[member_id].epoch
    return Joined(None, member_id, epoch, PROTOCOL_TYPE, request.protocols[0][0])


def by_id(partitions: tuple[NamedPartition, ...], topics: Topics) -> Partitions:
    """Topics and partitions that do not exist are left out."""
    return frozenset(
        (topics[name].id, each)
        for name, each in partitions
        if name in topics and 0 <= each < topics[name].partitions
    )


def by_name(partitions: Partitions, topics: Topics) -> list[NamedPartition]:
    names = {info.id: name for name, info in topics.items()}
    return [(names[topic], each) for topic, each in partitions if topic in names]


# Sync and heartbeat


def why_not_current(
    draft: ConsumerDraft, member_id: str, instance_id: str | None, generation: int
) -> GroupError | None:
    error = why_not_member(draft, member_id, instance_id)
    if error:
        return error
    member = draft.members[member_id]
    if member.classic is None:
        return GroupError.UNKNOWN_MEMBER_ID
    return None if member.epoch == generation else GroupError.ILLEGAL_GENERATION


def sync(draft: ConsumerDraft, request: Sync) -> Synced:
    error = why_not_current(draft, request.member_id, request.instance_id, request.generation)
    if error:
        return Synced(error)
    member = draft.members[request.member_id]
    side = member.classic
    assert side
    if request.protocol_type not in (None, PROTOCOL_TYPE) or request.protocol not in (
        None,
        *(name for name, _ in side.protocols),
    ):
        return Synced(GroupError.INCONSISTENT_GROUP_PROTOCOL)
    if draft.epoch > member.epoch and member.state is not MemberState.UNREVOKED:
        _call_to_join(draft, request.member_id)
        return Synced(GroupError.REBALANCE_IN_PROGRESS)
    draft.change(request.member_id, classic=side._replace(sync_by_ms=NEVER))
    draft.prolong_session(request.member_id)
    version = read_version(side.protocols[0][1])
    assignment = write_assignment(version, by_name(member.assigned, draft.topics))
    return Synced(None, assignment, request.protocol_type, request.protocol)


def heartbeat(draft: ConsumerDraft, request: Heartbeat) -> HeartbeatAnswer:
    error = why_not_current(draft, request.member_id, request.instance_id, request.generation)
    if error:
        return HeartbeatAnswer(error)
    draft.prolong_session(request.member_id)
    if not _has_more_to_do(draft, request.member_id):
        return HeartbeatAnswer(None)
    _call_to_join(draft, request.member_id)
    return HeartbeatAnswer(GroupError.REBALANCE_IN_PROGRESS)


def _has_more_to_do(draft: ConsumerDraft, member_id: str) -> bool:
    """Whether there is a new epoch, a partition to revoke, or the partitions that the member waits
    for have all become free."""
    member = draft.members[member_id]
    if member.epoch < draft.epoch or member.state is MemberState.UNREVOKED:
        return True
    if member.state is MemberState.STABLE:
        return False
    missing = draft.targets.get(member_id, NOTHING) - member.assigned
    return missing.isdisjoint(draft.held_by_others(member_id))


def _call_to_join(draft: ConsumerDraft, member_id: str) -> None:
    member = draft.members[member_id]
    if member.classic and member.classic.join_by_ms == NEVER:
        by = draft.now + member.rebalance_timeout_ms
        draft.change(member_id, classic=member.classic._replace(join_by_ms=by))


# Leave


def leave(draft: ConsumerDraft, request: Leave) -> Left:
    return Left(None, tuple(_leave_one(draft, leaving) for leaving in request.members))


def _leave_one(draft: ConsumerDraft, leaving: Leaving) -> LeftMember:
    member_id, instance_id = leaving
    if not member_id and instance_id is not None:
        member_id = draft.static_id(instance_id) or ""
    error = why_not_member(draft, member_id, instance_id)
    if error is None and draft.members[member_id].classic is None:
        error = GroupError.UNKNOWN_MEMBER_ID
    if error is None:
        draft.remove([member_id])
    return LeftMember(leaving.member_id, instance_id, error)


REQUESTS: dict[type, Callable[[ConsumerDraft, Any], Joined | Synced | HeartbeatAnswer | Left]] = {
    Join: join,
    Sync: sync,
    Heartbeat: heartbeat,
    Leave: leave,
}
