"""The consumer protocol (KIP-848): ConsumerGroupHeartbeat. No request ever waits.

`KINDS`, at the end, lists the kinds of heartbeat. It reads beside Kafka's GroupMetadataManager. The
member is found or added, and its fields are updated. A changed subscription, or changed topics,
make a new group epoch and new targets for all members. Then this member moves one step towards its
target (`reconcile` has that table). The other members follow with their own heartbeats.
"""

from collections.abc import Callable

from .assignors import NOTHING
from .classic_state import NEVER
from .consumer_draft import ConsumerDraft
from .consumer_state import (
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    ConsumerMember,
    MemberState,
    newcomer,
)
from .errors import GroupError
from .patterns import BadPattern, compile_pattern
from .replies import ConsumerHeartbeatAnswer
from .requests import ConsumerHeartbeat
from .settings import GroupSettings


def heartbeat(draft: ConsumerDraft, request: ConsumerHeartbeat) -> ConsumerHeartbeatAnswer:
    error = why_invalid(draft, request)
    if error:
        return ConsumerHeartbeatAnswer(error)
    return KINDS.get(request.epoch, _go_on)(draft, request)


def expire(draft: ConsumerDraft) -> None:
    """Remove members that were silent, or did not revoke, join or sync in time."""
    late = [each[0] for each in draft.members.items() if draft.end_of(*each) <= draft.now]
    if late:
        draft.remove(late)


# What is wrong with a request


def why_invalid(draft: ConsumerDraft, request: ConsumerHeartbeat) -> GroupError | None:
    if request.epoch < STATIC_LEAVE_EPOCH or "" in (request.instance_id, request.rack_id):
        return GroupError.INVALID_REQUEST
    if not request.member_id and (request.epoch != 0 or not request.ticket):
        return GroupError.INVALID_REQUEST
    if request.epoch == STATIC_LEAVE_EPOCH and request.instance_id is None:
        return GroupError.INVALID_REQUEST
    if request.epoch == 0 and not _is_whole(request):
        return GroupError.INVALID_REQUEST
    if request.assignor not in (None, *draft.settings.consumer_assignors):
        return GroupError.UNSUPPORTED_ASSIGNOR
    return _why_bad_pattern(request.pattern)


def _is_whole(request: ConsumerHeartbeat) -> bool:
    """A member that joins must send all fields, and own no partitions."""
    subscribed = request.topics is not None or request.pattern is not None
    return subscribed and request.rebalance_timeout_ms >= 0 and request.owned == NOTHING


def _why_bad_pattern(pattern: str | None) -> GroupError | None:
    if pattern:
        try:
            compile_pattern(pattern)
        except BadPattern:
            return GroupError.INVALID_REGULAR_EXPRESSION
    return None


def why_fenced(member: ConsumerMember, request: ConsumerHeartbeat) -> GroupError | None:
    """The previous epoch is accepted if the member owns nothing beyond its assignment, so cannot
    have missed a revocation: the answer to its last heartbeat was lost."""
    if request.epoch == member.epoch:
        return None
    if request.epoch == member.previous_epoch < member.epoch:
        owned = request.owned
        if owned is not None and owned <= member.assigned:
            return None
    return GroupError.FENCED_MEMBER_EPOCH


# Joining and staying


def _join(draft: ConsumerDraft, request: ConsumerHeartbeat) -> ConsumerHeartbeatAnswer:
    member_id = request.member_id or request.ticket
    full = len(draft.members) >= draft.settings.consumer_max_size
    if full and member_id not in draft.members:
        return ConsumerHeartbeatAnswer(GroupError.GROUP_MAX_SIZE_REACHED)
    error = _admit(draft, member_id, request)
    return ConsumerHeartbeatAnswer(error) if error else _note(draft, member_id, request)


def _admit(draft: ConsumerDraft, member_id: str, request: ConsumerHeartbeat) -> GroupError | None:
    """A static member replaces the one with its instance id, if that has left or is classic."""
    if request.instance_id is not None:
        current = draft.static_id(request.instance_id)
        if current is not None:
            there = draft.members[current]
            if there.classic is None and there.epoch != STATIC_LEAVE_EPOCH:
                return GroupError.UNRELEASED_INSTANCE_ID
            draft.rename(current, member_id)
            return None
    member = draft.members.get(member_id)
    return why_fenced(member, request) if member else None


def _go_on(draft: ConsumerDraft, request: ConsumerHeartbeat) -> ConsumerHeartbeatAnswer:
    error = why_not_member(draft, request.member_id, request.instance_id)
    if error is None:
        error = why_fenced(draft.members[request.member_id], request)
    return ConsumerHeartbeatAnswer(error) if error else _note(draft, request.member_id, request)


def why_not_member(
    draft: ConsumerDraft, member_id: str, instance_id: str | None
) -> GroupError | None:
    if instance_id is not None:
        current = draft.static_id(instance_id)
        if current is None:
            return GroupError.UNKNOWN_MEMBER_ID
        return None if current == member_id else GroupError.FENCED_INSTANCE_ID
    return None if member_id in draft.members else GroupError.UNKNOWN_MEMBER_ID


def _note(
    draft: ConsumerDraft, member_id: str, request: ConsumerHeartbeat
) -> ConsumerHeartbeatAnswer:
    before = draft.members.get(member_id)
    draft.put(member_id, _described(before or newcomer(request), request, draft.settings))
    draft.prolong_session(member_id)
    draft.follow_topics(request.known, request.matches, request.known_at_ms)
    draft.assign()
    draft.advance(member_id, request.owned)
    return _answer(draft, member_id, request, before)


def _described(
    member: ConsumerMember, request: ConsumerHeartbeat, settings: GroupSettings
) -> ConsumerMember:
    timeout = min(request.rebalance_timeout_ms, settings.max_rebalance_timeout_ms)
    topics = member.topics if request.topics is None else tuple(sorted(set(request.topics)))
    return member._replace(
        client_id=request.client_id,
        client_host=request.client_host,
        rack_id=request.rack_id or member.rack_id,
        rebalance_timeout_ms=timeout if timeout >= 0 else member.rebalance_timeout_ms,
        topics=topics,
        pattern=member.pattern if request.pattern is None else request.pattern,
        assignor=request.assignor or member.assignor,
        classic=None,
    )


def _answer(
    draft: ConsumerDraft,
    member_id: str,
    request: ConsumerHeartbeat,
    before: ConsumerMember | None,
) -> ConsumerHeartbeatAnswer:
    """The answer has the assignment if it changed, or if the heartbeat has all fields: such a
    member missed an answer or has just joined."""
    member = draft.members[member_id]
    said = request.owned is not None and request.rebalance_timeout_ms >= 0
    whole = said and (request.topics is not None or request.pattern is not None)
    changed = before is None or before.assigned != member.assigned
    told = member.assigned if whole or changed or request.epoch == 0 else None
    interval = draft.settings.consumer_heartbeat_interval_ms
    return ConsumerHeartbeatAnswer(None, member_id, member.epoch, interval, told)


# Leaving


def _leave(draft: ConsumerDraft, request: ConsumerHeartbeat) -> ConsumerHeartbeatAnswer:
    error = why_not_member(draft, request.member_id, request.instance_id)
    if error:
        return ConsumerHeartbeatAnswer(error)
    draft.remove([request.member_id])
    return ConsumerHeartbeatAnswer(None, request.member_id, LEAVE_EPOCH)


def _leave_for_a_while(draft: ConsumerDraft, request: ConsumerHeartbeat) -> ConsumerHeartbeatAnswer:
    """A static member leaves: its partitions stay assigned to it until its session ends."""
    error = why_not_member(draft, request.member_id, request.instance_id)
    if error:
        return ConsumerHeartbeatAnswer(error)
    draft.change(
        request.member_id,
        epoch=STATIC_LEAVE_EPOCH,
        state=MemberState.STABLE,
        revoking=NOTHING,
        revoke_by_ms=NEVER,
    )
    return ConsumerHeartbeatAnswer(None, request.member_id, STATIC_LEAVE_EPOCH)


KINDS: dict[int, Callable[[ConsumerDraft, ConsumerHeartbeat], ConsumerHeartbeatAnswer]] = {
    0: _join,
    LEAVE_EPOCH: _leave,
    STATIC_LEAVE_EPOCH: _leave_for_a_while,
}
