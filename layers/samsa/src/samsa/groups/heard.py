"""Heartbeats that were not worth a write of their own, written along with something that is.

A process that serves a whole group hears every member. If it remembers whom it heard since it last
wrote, and says so at the next write, one write prolongs every session, and a thousand idle members
cost about as many writes as one.
"""

from collections.abc import Mapping
from typing import Any

from .classic_draft import SLACK
from .classic_state import ClassicGroup
from .consumer_state import ConsumerGroup, ConsumerMember


def prolong(
    group: ClassicGroup | ConsumerGroup, heard: Mapping[str, int], session_timeout_ms: int
) -> ClassicGroup | ConsumerGroup:
    """`heard`: member id → when. The group's own due time stays: it is a lower bound."""
    known = [member_id for member_id in heard if member_id in group.members]
    if not known:
        return group
    members: dict[str, Any] = dict(group.members)
    for member_id in known:
        member = members[member_id]
        if isinstance(member, ConsumerMember):
            members[member_id] = _consumer(member, heard[member_id], session_timeout_ms)
        elif not member.is_new:
            end = _end(heard[member_id], member.session_timeout_ms)
            members[member_id] = member._replace(deadline_ms=max(end, member.deadline_ms))
    return group._replace(members=members)


def _consumer(member: ConsumerMember, heard_ms: int, session_timeout_ms: int) -> ConsumerMember:
    if member.epoch < 0:
        # It was heard before it went away.
        return member
    timeout = member.classic.session_timeout_ms if member.classic else session_timeout_ms
    end = _end(heard_ms, timeout)
    return member._replace(session_ends_ms=max(end, member.session_ends_ms))


def _end(heard_ms: int, timeout_ms: int) -> int:
    return heard_ms + timeout_ms + timeout_ms // SLACK
