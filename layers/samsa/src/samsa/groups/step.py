"""One step of a group: state, request and time in; state, answer and wake-ups out.

`ROUTES` says which function serves a request: both kinds of group get requests of both protocols. A
step first does what is overdue. At its end, a group whose last member of the consumer protocol has
left becomes a classic group.

`steps` takes several requests in one step, with one write. They are served one after the other. A
request that was parked by one of them and freed by a later one is answered at the end.
"""

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any, NamedTuple, TypeAlias, TypeVar

from . import classic, classic_requests, consumer, consumer_classic
from .classic_draft import ClassicDraft
from .classic_events import Answer as ClassicAnswer
from .classic_state import ClassicGroup, ClassicState
from .consumer_draft import ConsumerDraft
from .consumer_state import ConsumerGroup
from .embedded import Malformed
from .errors import GroupError
from .heartbeat_coalescing import NO_HEARTBEATS, MemberHeartbeats, prolong
from .migrate import can_upgrade, must_downgrade, to_classic, to_consumer
from .replies import ConsumerHeartbeatAnswer, Parked
from .requests import ConsumerHeartbeat, Heartbeat, Join, Leave, Sync, asker
from .settings import DEFAULTS, GroupSettings

Group: TypeAlias = ClassicGroup | ConsumerGroup
G = TypeVar("G", ClassicGroup | ConsumerGroup, ClassicGroup | ConsumerGroup | None)
Request: TypeAlias = Join | Sync | Heartbeat | Leave | ConsumerHeartbeat
Answer: TypeAlias = ClassicAnswer | ConsumerHeartbeatAnswer


class GroupStep(NamedTuple):
    group: Group | None
    """The same object that was passed in, if there is nothing to write."""
    answer: Answer
    wake: frozenset[str] = frozenset()
    """The addresses of waiters that may now be answered."""


class Steps(NamedTuple):
    """As `GroupStep`, with the answers in the order of the requests."""

    group: Group | None
    answers: Sequence[Answer]
    wake: frozenset[str]


CLOCK_TOLERANCE_MS = 1_000
"""Clocks of processes differ by up to this. If a group's write time is further in the future, the
clock that wrote it has been set back since."""


def step(
    group: Group | None,
    request: Request,
    now_ms: int,
    settings: GroupSettings = DEFAULTS,
    heartbeats: MemberHeartbeats = NO_HEARTBEATS,
) -> GroupStep:
    after, (answer,), wake = steps(group, (request,), now_ms, settings, heartbeats)
    return GroupStep(after, answer, wake)


def steps(
    group: Group | None,
    requests: Sequence[Request],
    now_ms: int,
    settings: GroupSettings = DEFAULTS,
    heartbeats: MemberHeartbeats = NO_HEARTBEATS,
) -> Steps:
    """If there is something to write, the sessions of all members that were answered since the last
    write are prolonged with it."""
    after = None if group is None else expire(group, now_ms, settings, heartbeats)
    wake = _answered(group, after)
    answers: list[Answer] = []
    while len(answers) < len(requests):
        before, left = after, requests[len(answers) :]
        serve = ROUTES[type(before), type(left[0]) is ConsumerHeartbeat]
        after, more = serve(before, left, now_ms, settings, heartbeats)
        after = _settled(after, now_ms, settings)
        answers += more
        wake |= _answered(before, after)
    if heartbeats.answered_ms and after is not None and after is not group:
        after = prolong(after, heartbeats, settings.consumer_session_timeout_ms)
    return Steps(after, answers, wake)


def needs_a_look(group: Group, now_ms: int) -> bool:
    """Whether something may be overdue, or the clock was set back."""
    return group.due_ms <= now_ms or group.written_at_ms > now_ms + CLOCK_TOLERANCE_MS


def expire(
    group: Group,
    now_ms: int,
    settings: GroupSettings = DEFAULTS,
    heartbeats: MemberHeartbeats = NO_HEARTBEATS,
) -> Group:
    """The group as it is now, for read-only requests too. The same object if nothing is overdue."""
    if not needs_a_look(group, now_ms):
        return group
    draft = _draft(group, now_ms, settings, heartbeats)
    if group.written_at_ms > now_ms + CLOCK_TOLERANCE_MS:
        draft.pull_in()
    if isinstance(draft, ClassicDraft):
        classic.expire(draft)
    else:
        consumer.expire(draft)
    return _settled(draft.group(), now_ms, settings)


def quieted(
    group: Group, now_ms: int, settings: GroupSettings, heartbeats: MemberHeartbeats
) -> Group:
    """The same group with a later due time, for a process that has just looked and keeps the group
    in memory. The stored due time is a lower bound; this process knows whom it has answered."""
    if group.due_ms > now_ms:
        return group
    return group._replace(due_ms=_draft(group, now_ms, settings, heartbeats).next_due())


def _draft(
    group: Group, now_ms: int, settings: GroupSettings, heartbeats: MemberHeartbeats
) -> ClassicDraft | ConsumerDraft:
    if isinstance(group, ClassicGroup):
        return ClassicDraft(group, now_ms, settings, heartbeats)
    return ConsumerDraft(group, now_ms, settings, heartbeats)


def patterns_of(group: Group | None, request: Request) -> set[str]:
    """The patterns whose matches must be passed with a request."""
    found = {request.pattern or ""} if isinstance(request, ConsumerHeartbeat) else set()
    if isinstance(group, ConsumerGroup):
        found.update(member.pattern for member in group.members.values())
    return found - {""}


Routed: TypeAlias = tuple[Group | None, Answer]
Served: TypeAlias = tuple[Group | None, list[Answer]]
"""The answers to the first requests, as many as could be served in one go, at least one."""
Requests: TypeAlias = Sequence[Request]


def _classic(
    group: ClassicGroup,
    requests: Requests,
    now_ms: int,
    settings: GroupSettings,
    heartbeats: MemberHeartbeats,
) -> Served:
    draft = ClassicDraft(group, now_ms, settings, heartbeats)
    run = takewhile(lambda each: type(each) is not ConsumerHeartbeat, requests)
    answers: list[Answer] = [classic_requests.ask(draft, each) for each in run]
    parked = {n: answer.ask for n, answer in enumerate(answers) if isinstance(answer, Parked)}
    if parked:
        _answer_the_freed(draft, parked, answers)
    after = draft.group()
    if parked:
        due_ms = draft.next_due()
        for n, ask in parked.items():
            answers[n] = Parked(due_ms, ask)
    return after, answers


def _answer_the_freed(
    draft: ClassicDraft, parked: dict[int, Join | Sync], answers: list[Answer]
) -> None:
    """Ask again for requests that were parked and freed in the same step: no wake-up comes for
    these. The others stay parked."""
    while freed := [n for n, ask in parked.items() if not draft.is_parked(asker(ask))]:
        for n in freed:
            answers[n] = answer = classic_requests.ask(draft, parked.pop(n))
            if isinstance(answer, Parked):
                parked[n] = answer.ask


def _new_classic(
    _: None, requests: Requests, now_ms: int, settings: GroupSettings, heartbeats: MemberHeartbeats
) -> Served:
    fresh = ClassicGroup(changed_at_ms=now_ms)
    after, answers = _classic(fresh, requests, now_ms, settings, heartbeats)
    return (None if after is fresh else after), answers


def _one(
    serve: Callable[[Any, Any, int, GroupSettings, MemberHeartbeats], Routed],
) -> Callable[..., Served]:
    def serve_one(
        group: Any,
        requests: Requests,
        now_ms: int,
        settings: GroupSettings,
        heartbeats: MemberHeartbeats,
    ) -> Served:
        after, answer = serve(group, requests[0], now_ms, settings, heartbeats)
        return after, [answer]

    return serve_one


def _consumer(
    group: ConsumerGroup,
    request: ConsumerHeartbeat,
    now_ms: int,
    settings: GroupSettings,
    heartbeats: MemberHeartbeats,
) -> Routed:
    draft = ConsumerDraft(group, now_ms, settings, heartbeats)
    answer = consumer.heartbeat(draft, request)
    return (group if answer.error else draft.group()), answer


def _new_consumer(
    _: None,
    request: ConsumerHeartbeat,
    now_ms: int,
    settings: GroupSettings,
    heartbeats: MemberHeartbeats,
) -> Routed:
    return _begin_consumer(
        None, ConsumerGroup(changed_at_ms=now_ms), request, now_ms, settings, heartbeats
    )


def _upgrade(
    group: ClassicGroup,
    request: ConsumerHeartbeat,
    now_ms: int,
    settings: GroupSettings,
    heartbeats: MemberHeartbeats,
) -> Routed:
    """Only a join turns a classic group with members into a group of the consumer protocol."""
    if group.state is ClassicState.EMPTY and not group.members:
        fresh = ConsumerGroup(group.generation, group.generation, changed_at_ms=now_ms)
        return _begin_consumer(group, fresh, request, now_ms, settings, heartbeats)
    if request.epoch != 0 or not can_upgrade(group, settings):
        return group, ConsumerHeartbeatAnswer(GroupError.GROUP_ID_NOT_FOUND)
    try:
        upgraded = to_consumer(group, request.known, now_ms)
    except Malformed:
        return group, ConsumerHeartbeatAnswer(GroupError.GROUP_ID_NOT_FOUND)
    return _begin_consumer(group, upgraded, request, now_ms, settings, heartbeats)


def _begin_consumer(
    before: Group | None,
    group: ConsumerGroup,
    request: ConsumerHeartbeat,
    now_ms: int,
    settings: GroupSettings,
    heartbeats: MemberHeartbeats,
) -> Routed:
    after, answer = _consumer(group, request, now_ms, settings, heartbeats)
    assert isinstance(answer, ConsumerHeartbeatAnswer)
    if answer.error is GroupError.UNKNOWN_MEMBER_ID:
        answer = ConsumerHeartbeatAnswer(GroupError.GROUP_ID_NOT_FOUND)
    return (before if answer.error else after), answer


def _classic_to_consumer(
    group: ConsumerGroup,
    request: Request,
    now_ms: int,
    settings: GroupSettings,
    heartbeats: MemberHeartbeats,
) -> Routed:
    """An empty group becomes a classic one; its generation continues from its epoch."""
    if group.is_empty and isinstance(request, Join):
        fresh = ClassicGroup(generation=group.epoch, changed_at_ms=now_ms)
        after, answers = _classic(fresh, [request], now_ms, settings, heartbeats)
        return (group if after is fresh else after), answers[0]
    draft = ConsumerDraft(group, now_ms, settings, heartbeats)
    answer = consumer_classic.REQUESTS[type(request)](draft, request)
    refused = isinstance(request, Join) and answer.error
    return (group if refused else draft.group()), answer


ROUTES: dict[
    tuple[type, bool], Callable[[Any, Any, int, GroupSettings, MemberHeartbeats], Served]
] = {
    (type(None), False): _new_classic,
    (ClassicGroup, False): _classic,
    (ConsumerGroup, False): _one(_classic_to_consumer),
    (type(None), True): _one(_new_consumer),
    (ClassicGroup, True): _one(_upgrade),
    (ConsumerGroup, True): _one(_consumer),
}


def _settled(group: G, now_ms: int, settings: GroupSettings) -> G | ClassicGroup:
    if isinstance(group, ConsumerGroup) and must_downgrade(group):
        return to_classic(group, now_ms, settings)
    return group


def _answered(before: Group | None, after: Group | None) -> frozenset[str]:
    """Waiters of members that were parked and are not any more. The member whose request is served
    may be among them: its earlier request may be parked in another process."""
    if before is after or not isinstance(before, ClassicGroup):
        return frozenset()
    still = after.members if isinstance(after, ClassicGroup) else {}
    free = set()
    for member_id, member in before.members.items():
        now = still.get(member_id)
        if now is not member and member.is_parked and (now is None or not now.is_parked):
            free.add(member.waiter)
    return frozenset(free - {""})
