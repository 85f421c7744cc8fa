"""One step of a group: state, request and time in; state, answer and wake-ups out."""

from typing import NamedTuple, TypeAlias

from . import classic
from .classic_draft import Draft
from .classic_state import ClassicGroup
from .requests import Heartbeat, Join, Leave, Sync
from .settings import DEFAULTS, Settings

Group: TypeAlias = ClassicGroup
Request: TypeAlias = Join | Sync | Heartbeat | Leave
Answer: TypeAlias = classic.Answer


class Step(NamedTuple):
    group: Group | None
    """The very object that went in, if there is nothing to write."""
    answer: Answer
    wake: frozenset[str] = frozenset()
    """The addresses of waiters that may now be answered."""


def step(group: Group | None, request: Request, now_ms: int, settings: Settings = DEFAULTS) -> Step:
    draft = Draft(group or ClassicGroup(changed_at_ms=now_ms), now_ms, settings)
    if draft.before.due_ms <= now_ms:
        classic.expire(draft)
    answer = classic.REQUESTS[type(request)](draft, request)
    after = draft.group()
    if after is draft.before:
        return Step(group, answer)
    return Step(after, answer, _answered(draft.before, after, classic.asker(request)))


def expire(group: Group, now_ms: int, settings: Settings = DEFAULTS) -> Group:
    """The group as it is now, for those who only look: the very object if nothing is overdue."""
    if group.due_ms > now_ms:
        return group
    draft = Draft(group, now_ms, settings)
    classic.expire(draft)
    return draft.group()


def _answered(before: ClassicGroup, after: ClassicGroup, asker: str) -> frozenset[str]:
    """Who waited and need not, but for the one who is being answered."""
    free = set()
    for member_id, member in before.members.items():
        if member.is_parked and member_id != asker:
            now = after.members.get(member_id)
            if now is None or not now.is_parked:
                free.add(member.waiter)
    return frozenset(free - {""})
