"""Heartbeats of classic members that change nothing, which most do: answered without a step.

What a heartbeat does is said by the table in `classic`, and how long it is good for by the draft.
Here is only told when all that they would do is to answer.
"""

from collections.abc import Callable
from typing import Any

from .classic import TRANSITIONS
from .classic_state import ClassicGroup
from .classic_sync import call_to_join, hear
from .errors import GroupError
from .replies import Beaten
from .requests import Heartbeat
from .step import Group

_ANSWERS: dict[Callable[..., Any], Beaten] = {
    hear: Beaten(None),
    call_to_join: Beaten(GroupError.REBALANCE_IN_PROGRESS),
}


def beaten(group: Group | None, request: Heartbeat, now_ms: int) -> Beaten | None:
    """What a step would answer; None if it takes one to know, or if it would change the group."""
    if not isinstance(group, ClassicGroup) or group.due_ms <= now_ms:
        return None
    member = group.members.get(request.member_id)
    if member is None or request.generation != group.generation:
        return None
    if request.instance_id is not None and request.instance_id != member.instance_id:
        return None
    if now_ms + member.session_timeout_ms >= member.deadline_ms:
        return None  # worth a write
    return _ANSWERS.get(TRANSITIONS[Heartbeat][group.state])
