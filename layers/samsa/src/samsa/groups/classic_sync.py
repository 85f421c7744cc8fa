"""Syncs and heartbeats of a classic group: what they do in each state."""

from typing import Any

from .classic_draft import Draft
from .classic_events import Answer
from .classic_state import NEVER, Stage, State
from .errors import GroupError
from .replies import Beaten, Parked, Synced
from .requests import Heartbeat, Sync

# Syncing


def assign_or_wait(draft: Draft, request: Sync) -> Answer:
    if request.member_id == draft.leader:
        return _assign(draft, request)
    draft.change(request.member_id, stage=Stage.SYNCING, waiter=request.waiter)
    return Parked(NEVER, request)


def _assign(draft: Draft, request: Sync) -> Answer:
    for member_id, member in draft.members.items():
        changes: dict[str, Any] = {"assignment": request.assignments.get(member_id, b"")}
        if member.stage is Stage.SYNCING or member_id == request.member_id:
            changes.update(stage=Stage.SETTLED, deadline_ms=draft.session_end(member))
        draft.change(member_id, **changes)
    draft.enter(State.STABLE, draft.phase_ends_ms)
    return take_assignment(draft, request)


def take_assignment(draft: Draft, request: Sync) -> Answer:
    member = draft.members[request.member_id]
    if member.stage is not Stage.SETTLED:
        draft.change(request.member_id, stage=Stage.SETTLED)
    draft.hear(request.member_id)
    if draft.phase_ends_ms != NEVER and not draft.anyone_in(Stage.JOINED):
        draft.phase_ends_ms = NEVER
    return Synced(None, member.assignment, draft.protocol_type, draft.protocol)


def refuse_sync(_draft: Draft, _request: Sync) -> Answer:
    return Synced(GroupError.REBALANCE_IN_PROGRESS)


def unknown_sync(_draft: Draft, _request: Sync) -> Answer:
    return Synced(GroupError.UNKNOWN_MEMBER_ID)


# Heartbeats


def hear(draft: Draft, request: Heartbeat) -> Answer:
    draft.hear(request.member_id)
    return Beaten(None)


def call_to_join(draft: Draft, request: Heartbeat) -> Answer:
    draft.hear(request.member_id)
    return Beaten(GroupError.REBALANCE_IN_PROGRESS)


def unknown_beat(_draft: Draft, _request: Heartbeat) -> Answer:
    return Beaten(GroupError.UNKNOWN_MEMBER_ID)
