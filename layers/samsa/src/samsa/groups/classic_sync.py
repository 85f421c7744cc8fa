"""Syncs and heartbeats of a classic group: what they do in each state."""

from typing import Any

from .classic_draft import ClassicDraft
from .classic_events import Answer
from .classic_state import NEVER, ClassicState, Stage
from .errors import GroupError
from .replies import HeartbeatAnswer, Parked, Synced
from .requests import Heartbeat, Sync

# Syncing


def assign_or_wait(draft: ClassicDraft, request: Sync) -> Answer:
    if request.member_id == draft.leader:
        return _assign(draft, request)
    draft.change(request.member_id, stage=Stage.SYNCING, waiter=request.waiter)
    return Parked(NEVER, request)


def _assign(draft: ClassicDraft, request: Sync) -> Answer:
    for member_id, member in draft.members.items():
        changes: dict[str, Any] = {"assignment": request.assignments.get(member_id, b"")}
        if member.stage is Stage.SYNCING or member_id == request.member_id:
            changes.update(stage=Stage.SETTLED, deadline_ms=draft.session_end(member))
        draft.change(member_id, **changes)
    draft.enter(ClassicState.STABLE, draft.phase_ends_ms)
    return take_assignment(draft, request)


def take_assignment(draft: ClassicDraft, request: Sync) -> Answer:
    member = draft.members[request.member_id]
    if member.stage is not Stage.SETTLED:
        draft.change(request.member_id, stage=Stage.SETTLED)
    draft.prolong_session(request.member_id)
    if draft.phase_ends_ms != NEVER and not draft.anyone_in(Stage.JOINED):
        draft.phase_ends_ms = NEVER
    return Synced(None, member.assignment, draft.protocol_type, draft.protocol)


def refuse_sync(_draft: ClassicDraft, _request: Sync) -> Answer:
    return Synced(GroupError.REBALANCE_IN_PROGRESS)


def unknown_sync(_draft: ClassicDraft, _request: Sync) -> Answer:
    return Synced(GroupError.UNKNOWN_MEMBER_ID)


# Heartbeats


def accept_heartbeat(draft: ClassicDraft, request: Heartbeat) -> Answer:
    draft.prolong_session(request.member_id)
    return HeartbeatAnswer(None)


def call_to_join(draft: ClassicDraft, request: Heartbeat) -> Answer:
    draft.prolong_session(request.member_id)
    return HeartbeatAnswer(GroupError.REBALANCE_IN_PROGRESS)


def unknown_heartbeat(_draft: ClassicDraft, _request: Heartbeat) -> Answer:
    return HeartbeatAnswer(GroupError.UNKNOWN_MEMBER_ID)
