"""The fast path for heartbeats of classic members that change nothing: answered without a step.

Most heartbeats change nothing. The table in `classic` says what a heartbeat does, and the draft
when it prolongs a session. This module only detects that a step would do nothing but answer.
"""

from collections.abc import Callable
from typing import Any

from .classic import TRANSITIONS
from .classic_state import ClassicGroup
from .classic_sync import accept_heartbeat, call_to_join
from .errors import GroupError
from .heartbeat_coalescing import is_worth_a_write
from .replies import HeartbeatAnswer
from .requests import Heartbeat
from .step import Group, needs_a_look

_ANSWERS: dict[Callable[..., Any], HeartbeatAnswer] = {
    accept_heartbeat: HeartbeatAnswer(None),
    call_to_join: HeartbeatAnswer(GroupError.REBALANCE_IN_PROGRESS),
}


def answer_heartbeat(
    group: Group | None, request: Heartbeat, now_ms: int, answered_by: str = ""
) -> HeartbeatAnswer | None:
    """What a step would answer; None if a step is needed to know, or would change the group."""
    if not isinstance(group, ClassicGroup) or needs_a_look(group, now_ms):
        return None
    member = group.members.get(request.member_id)
    if member is None or request.generation != group.generation:
        return None
    if request.instance_id is not None and request.instance_id != member.instance_id:
        return None
    timeout = member.session_timeout_ms
    if (
        is_worth_a_write(now_ms + timeout, member.deadline_ms, timeout)
        or member.answered_by != answered_by
    ):
        return None
    return _ANSWERS.get(TRANSITIONS[Heartbeat][group.state])
