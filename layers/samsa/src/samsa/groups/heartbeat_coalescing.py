"""Heartbeats are not written one by one. This module says when a session then ends.

A heartbeat is written only if it prolongs the stored session end by a fourth of the session timeout
or more. Between two writes only the process that answered a heartbeat knows of it. So a stored
session end is a lower bound, and there are two rules for when a session is over:

- The process that answers a member (`answered_by`, stored with the member, written when it changes)
  knows when it did so last: the session lasts exactly as long as the client asked.
- Every other process, and every Lambda function, adds the fourth that may not have been written.

One write prolongs the sessions of all members that were answered since the last one: a thousand
idle members cost about as many writes as one.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from .classic_state import ClassicGroup
from .consumer_state import ConsumerGroup, ConsumerMember

SLACK = 4
"""A heartbeat is written if it prolongs the stored session by one part in this many."""


class MemberHeartbeats(NamedTuple):
    """Which members the process that takes a step has answered, and when."""

    answered_by: str = ""
    """The name of the process, new at each start; empty if others may answer its members."""
    answered_ms: Mapping[str, int] = {}
    """Member id → when one of its requests was last answered here."""

    def end_of(self, member_id: str, answered_by: str, ends_ms: int, timeout_ms: int) -> int:
        """When a session is over. `ends_ms` is its stored end, a lower bound."""
        is_ours = self.answered_by != "" and answered_by == self.answered_by
        last = self.answered_ms.get(member_id) if is_ours else None
        return ends_ms + timeout_ms // SLACK if last is None else max(ends_ms, last + timeout_ms)


NO_HEARTBEATS = MemberHeartbeats()


def is_worth_a_write(end_ms: int, stored_end_ms: int, timeout_ms: int) -> bool:
    return end_ms - stored_end_ms >= timeout_ms // SLACK


def prolong(
    group: ClassicGroup | ConsumerGroup, heartbeats: MemberHeartbeats, session_timeout_ms: int
) -> ClassicGroup | ConsumerGroup:
    """Prolong the sessions of all members that were answered. The group's due time does not change,
    since it is a lower bound."""
    later: dict[str, Any] = {}
    for member_id, answered_ms in heartbeats.answered_ms.items():
        member = group.members.get(member_id)
        prolonged = member and _prolonged(member, answered_ms, session_timeout_ms)
        if prolonged is not member:
            later[member_id] = prolonged
    if not later:
        return group
    members: Any = {**group.members, **later}
    return group._replace(members=members)


def _prolonged(member: Any, answered_ms: int, session_timeout_ms: int) -> Any:
    if isinstance(member, ConsumerMember):
        if member.epoch < 0:
            return member  # it was answered before it went away
        timeout = member.classic.session_timeout_ms if member.classic else session_timeout_ms
        end = answered_ms + timeout
        return member if end <= member.session_ends_ms else member._replace(session_ends_ms=end)
    end = answered_ms + member.session_timeout_ms
    if member.is_new or end <= member.deadline_ms:
        return member
    return member._replace(deadline_ms=end)
