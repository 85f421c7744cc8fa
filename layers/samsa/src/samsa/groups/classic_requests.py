"""Requests to a classic group: each is checked, and then refused or turned into an event.

The checks are Kafka's, in Kafka's order. The table in `classic` says what an event then does.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from .classic import happen, react
from .classic_draft import ClassicDraft
from .classic_events import (
    Answer,
    IdLapsed,
    LookAgain,
    MemberGone,
    NewMember,
    Rejoin,
    Replacement,
)
from .classic_state import ClassicMember, ClassicState, Stage
from .errors import GroupError
from .replies import HeartbeatAnswer, Joined, Left, LeftMember, Synced
from .requests import Heartbeat, Join, Leave, Leaving, Sync, fresh_id


def join(draft: ClassicDraft, request: Join) -> Answer:
    limits = draft.settings
    timeout = request.session_timeout_ms
    if not limits.min_session_timeout_ms <= timeout <= limits.max_session_timeout_ms:
        return Joined(GroupError.INVALID_SESSION_TIMEOUT, request.member_id)
    member_id = request.member_id or fresh_id(request)
    member = draft.members.get(member_id)
    if member and member.ticket == request.ticket:
        return happen(draft, LookAgain(member_id, request))
    if request.again:
        return Joined(_why_outdated(draft, member, request), "")
    if not _has_room(draft, request.member_id):
        return _turn_away(draft, request)
    if not draft.supports(request.protocol_type, request.protocols):
        return Joined(GroupError.INCONSISTENT_GROUP_PROTOCOL, request.member_id)
    return _join_known(draft, request) if request.member_id else _join_unknown(draft, request)


def _join_unknown(draft: ClassicDraft, request: Join) -> Answer:
    member_id = fresh_id(request)
    if request.instance_id is not None:
        old_id = draft.static_id(request.instance_id)
        if old_id is not None:
            return happen(draft, Replacement(old_id, member_id, request))
    elif request.requires_id:
        draft.pending[member_id] = draft.now + request.session_timeout_ms
        return Joined(GroupError.MEMBER_ID_REQUIRED, member_id)
    return happen(draft, NewMember(member_id, request))


def _join_known(draft: ClassicDraft, request: Join) -> Answer:
    member_id = request.member_id
    if draft.pending.pop(member_id, None) is not None:
        return happen(draft, NewMember(member_id, request))
    error = why_not_member(draft, member_id, request.instance_id)
    return Joined(error, member_id) if error else happen(draft, Rejoin(member_id, request))


def _why_outdated(draft: ClassicDraft, member: ClassicMember | None, request: Join) -> GroupError:
    if member:
        return GroupError.REBALANCE_IN_PROGRESS
    error = why_not_member(draft, "", request.instance_id)
    return error or GroupError.UNKNOWN_MEMBER_ID


def _has_room(draft: ClassicDraft, member_id: str) -> bool:
    """Whether the group is below `max_size`. In the join phase only members that have joined count,
    so the last ones to join are removed. Ids that were given out and not used yet count too, since
    the group stores each of them."""
    most = draft.settings.max_size
    if not member_id and len(draft.members) + len(draft.pending) >= most:
        return False
    if draft.state is ClassicState.EMPTY or len(draft.members) < most:
        return True
    if draft.state is ClassicState.PREPARING_REBALANCE:
        joining = draft.in_stage(Stage.JOINING)
        return member_id in joining or len(joining) < most
    return member_id in draft.members


def _turn_away(draft: ClassicDraft, request: Join) -> Answer:
    draft.pending.pop(request.member_id, None)
    if request.member_id in draft.members:
        draft.remove(request.member_id)
        react(draft, MemberGone())
    return Joined(GroupError.GROUP_MAX_SIZE_REACHED, "")


def why_not_member(
    draft: ClassicDraft, member_id: str, instance_id: str | None
) -> GroupError | None:
    if instance_id is not None:
        current = draft.static_id(instance_id)
        if current is not None and current != member_id:
            return GroupError.FENCED_INSTANCE_ID
    member = draft.members.get(member_id)
    if member is None or (instance_id is not None and member.instance_id != instance_id):
        return GroupError.UNKNOWN_MEMBER_ID
    return None


def sync(draft: ClassicDraft, request: Sync) -> Answer:
    error = why_not_member(draft, request.member_id, request.instance_id)
    if error is None and request.generation != draft.generation:
        error = GroupError.ILLEGAL_GENERATION
    if error is None and not (
        request.protocol_type in (None, draft.protocol_type)
        and request.protocol in (None, draft.protocol)
    ):
        error = GroupError.INCONSISTENT_GROUP_PROTOCOL
    return Synced(error) if error else happen(draft, request)


def heartbeat(draft: ClassicDraft, request: Heartbeat) -> Answer:
    error = why_not_member(draft, request.member_id, request.instance_id)
    if error is None and request.generation != draft.generation:
        error = GroupError.ILLEGAL_GENERATION
    return HeartbeatAnswer(error) if error else happen(draft, request)


def leave(draft: ClassicDraft, request: Leave) -> Answer:
    members, waited = len(draft.members), len(draft.pending)
    left = tuple(_leave_one(draft, leaving) for leaving in request.members)
    if len(draft.members) < members:
        react(draft, MemberGone())
    elif len(draft.pending) < waited:
        react(draft, IdLapsed())
    return Left(None, left)


def _leave_one(draft: ClassicDraft, leaving: Leaving) -> LeftMember:
    member_id, instance_id = leaving
    if draft.pending.pop(member_id, None) is not None:
        return LeftMember(member_id, instance_id, None)
    current: str | None = member_id
    if not member_id and instance_id is not None:
        current = draft.static_id(instance_id)
    error = why_not_member(draft, current or "", instance_id)
    if error is None and current:
        draft.remove(current)
    return LeftMember(member_id, instance_id, error)


REQUESTS: dict[type, Callable[[ClassicDraft, Any], Answer]] = {
    Join: join,
    Sync: sync,
    Heartbeat: heartbeat,
    Leave: leave,
}


def ask(draft: ClassicDraft, request: NamedTuple) -> Answer:
    return REQUESTS[type(request)](draft, request)
