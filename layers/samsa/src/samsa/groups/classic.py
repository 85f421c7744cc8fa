"""The classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

`TRANSITIONS`, at the end, is the whole state machine: what each event does in each state. It reads
beside Kafka's GroupMetadataManager. What Kafka's timers do is done here by whoever touches the
group next: a step first ends every session and phase that is overdue.

A join that must wait for other members, or a follower's sync that must wait for the leader, is
*parked in the state*: its member is in stage JOINING or SYNCING, and names its waiter. Any process
may complete it; the waiter then asks again, and is answered from the state:

- A **join** is recognised by its ticket, which is kept with the member until its next join. Asked
  again while it waits, it stays parked; after its generation has begun, it is told that generation
  (even the leader, in a stable group); if the next rebalance has begun meanwhile, it takes part.
- A join that **had no member id** got the one that ends in its ticket, so that it finds itself.
- A client whose **answer was lost** sends a join with another ticket, and is served by Kafka's
  rules: the same metadata is told the generation again, anything else starts a rebalance. Whoever
  still asks with the old ticket is turned away, and nothing changes.
- A **sync** is the same question each time: the generation says which assignment is meant.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from .classic_draft import Draft
from .classic_state import NEVER, Member, Stage, State
from .errors import GroupError
from .replies import Beaten, Joined, JoinedMember, Left, LeftMember, Parked, Synced
from .requests import Heartbeat, Join, Leave, Leaving, Sync

Answer: TypeAlias = Joined | Synced | Beaten | Left | Parked


class Newcomer(NamedTuple):
    """A join by someone who is not a member."""

    member_id: str
    join: Join


class Replacement(NamedTuple):
    """A join without a member id by an instance that is a member (KIP-345)."""

    old_id: str
    member_id: str
    join: Join


class Rejoin(NamedTuple):
    """A new join by a member."""

    member_id: str
    join: Join


class LookAgain(NamedTuple):
    """The latest join of a member, once more."""

    member_id: str
    join: Join


class MemberGone(NamedTuple):
    """Members have left or their sessions have ended."""


class IdLapsed(NamedTuple):
    """An id that was given to a client is not waited for any longer."""


class PhaseEnd(NamedTuple):
    """Those who have not joined, or not synced, have had their time."""


# Requests: what they are to this group


def join(draft: Draft, request: Join) -> Answer:
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


def fresh_id(request: Join) -> str:
    """The member id for a join that has none: the same each time that it is asked."""
    return f"{request.instance_id or request.client_id}-{request.ticket}"


def _join_unknown(draft: Draft, request: Join) -> Answer:
    member_id = fresh_id(request)
    if request.instance_id is not None:
        old_id = draft.static_id(request.instance_id)
        if old_id is not None:
            return happen(draft, Replacement(old_id, member_id, request))
    elif request.requires_id:
        draft.pending[member_id] = draft.now + request.session_timeout_ms
        return Joined(GroupError.MEMBER_ID_REQUIRED, member_id)
    return happen(draft, Newcomer(member_id, request))


def _join_known(draft: Draft, request: Join) -> Answer:
    member_id = request.member_id
    if draft.pending.pop(member_id, None) is not None:
        return happen(draft, Newcomer(member_id, request))
    error = why_not_member(draft, member_id, request.instance_id)
    return Joined(error, member_id) if error else happen(draft, Rejoin(member_id, request))


def _why_outdated(draft: Draft, member: Member | None, request: Join) -> GroupError:
    if member:
        return GroupError.REBALANCE_IN_PROGRESS
    error = why_not_member(draft, "", request.instance_id)
    return error or GroupError.UNKNOWN_MEMBER_ID


def _has_room(draft: Draft, member_id: str) -> bool:
    """While members join again, those who have joined count: the last ones are kicked out."""
    most = draft.settings.max_size
    if draft.state is State.EMPTY or len(draft.members) < most:
        return True
    if draft.state is State.PREPARING_REBALANCE:
        joining = draft.in_stage(Stage.JOINING)
        return member_id in joining or len(joining) < most
    return member_id in draft.members


def _turn_away(draft: Draft, request: Join) -> Answer:
    draft.pending.pop(request.member_id, None)
    if request.member_id in draft.members:
        draft.remove(request.member_id)
        react(draft, MemberGone())
    return Joined(GroupError.GROUP_MAX_SIZE_REACHED, "")


def why_not_member(draft: Draft, member_id: str, instance_id: str | None) -> GroupError | None:
    if instance_id is not None:
        current = draft.static_id(instance_id)
        if current is not None and current != member_id:
            return GroupError.FENCED_INSTANCE_ID
    member = draft.members.get(member_id)
    if member is None or (instance_id is not None and member.instance_id != instance_id):
        return GroupError.UNKNOWN_MEMBER_ID
    return None


def sync(draft: Draft, request: Sync) -> Answer:
    error = why_not_member(draft, request.member_id, request.instance_id)
    if error is None and request.generation != draft.generation:
        error = GroupError.ILLEGAL_GENERATION
    if error is None and not (
        request.protocol_type in (None, draft.protocol_type)
        and request.protocol in (None, draft.protocol)
    ):
        error = GroupError.INCONSISTENT_GROUP_PROTOCOL
    return Synced(error) if error else happen(draft, request)


def heartbeat(draft: Draft, request: Heartbeat) -> Answer:
    error = why_not_member(draft, request.member_id, request.instance_id)
    if error is None and request.generation != draft.generation:
        error = GroupError.ILLEGAL_GENERATION
    return Beaten(error) if error else happen(draft, request)


def leave(draft: Draft, request: Leave) -> Answer:
    members, waited = len(draft.members), len(draft.pending)
    left = tuple(_leave_one(draft, leaving) for leaving in request.members)
    if len(draft.members) < members:
        react(draft, MemberGone())
    elif len(draft.pending) < waited:
        react(draft, IdLapsed())
    return Left(None, left)


def _leave_one(draft: Draft, leaving: Leaving) -> LeftMember:
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


# Joining


def begin(draft: Draft, event: Newcomer) -> Answer:
    """The first of an empty group: give others some time to come too."""
    _add(draft, event)
    prepare(draft)
    return _answer_join(draft, event)


def gather(draft: Draft, event: Newcomer) -> Answer:
    _add(draft, event)
    if draft.first_phase_ends_ms:
        draft.newcomers = True
    complete_if_all_joined(draft)
    return _answer_join(draft, event)


def interrupt(draft: Draft, event: Newcomer) -> Answer:
    _add(draft, event)
    prepare(draft)
    return _answer_join(draft, event)


def gather_again(draft: Draft, event: Rejoin | LookAgain) -> Answer:
    _update(draft, event)
    complete_if_all_joined(draft)
    return _answer_join(draft, event)


def interrupt_if_changed(draft: Draft, event: Rejoin) -> Answer:
    """The same metadata: the answer to its join was lost."""
    if draft.members[event.member_id].protocols == event.join.protocols:
        return tell(draft, event)
    return interrupt_again(draft, event)


def interrupt_if_changed_or_leader(draft: Draft, event: Rejoin) -> Answer:
    """A leader that joins again wants a rebalance, though its metadata is the same."""
    if draft.leader == event.member_id:
        return interrupt_again(draft, event)
    return interrupt_if_changed(draft, event)


def interrupt_again(draft: Draft, event: Rejoin) -> Answer:
    _update(draft, event)
    prepare(draft)
    return _answer_join(draft, event)


def gather_replacement(draft: Draft, event: Replacement) -> Answer:
    _replace(draft, event)
    complete_if_all_joined(draft)
    return _answer_join(draft, event)


def interrupt_by_replacement(draft: Draft, event: Replacement) -> Answer:
    """The leader may be assigning to the old member id right now."""
    _replace(draft, event)
    prepare(draft)
    return _answer_join(draft, event)


def replace_quietly(draft: Draft, event: Replacement) -> Answer:
    """The instance takes up its assignment, unless the group would now choose another protocol."""
    leader_before = draft.leader
    _replace(draft, event)
    if draft.elect_protocol() != draft.protocol:
        prepare(draft)
        return _answer_join(draft, event)
    draft.change(event.member_id, stage=Stage.SETTLED)
    told = _joined(draft, event.member_id)
    if event.join.can_skip_assignment:
        return told._replace(skip_assignment=bool(told.members))
    # A client that cannot skip must not take itself for the leader: it would assign anew.
    return told._replace(leader=leader_before or "", members=())


def tell(draft: Draft, event: Rejoin | LookAgain) -> Answer:
    draft.hear(event.member_id)
    return _joined(draft, event.member_id)


def unknown_join(_: Draft, event: Rejoin | LookAgain | Replacement) -> Answer:
    return Joined(GroupError.UNKNOWN_MEMBER_ID, event.join.member_id)


def _add(draft: Draft, event: Newcomer) -> None:
    request = event.join
    member = Member(
        instance_id=request.instance_id,
        client_id=request.client_id,
        client_host=request.client_host,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=_rebalance_timeout(request),
        protocols=request.protocols,
        stage=Stage.JOINING,
        deadline_ms=draft.now + draft.settings.new_member_join_timeout_ms,
        is_new=True,
        ticket=request.ticket,
        waiter=request.waiter,
    )
    draft.add(event.member_id, member, request.protocol_type)


def _update(draft: Draft, event: Rejoin | LookAgain | Replacement) -> None:
    request = event.join
    draft.change(
        event.member_id,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=_rebalance_timeout(request),
        protocols=request.protocols,
        stage=Stage.JOINING,
        ticket=request.ticket,
        waiter=request.waiter,
    )


def _replace(draft: Draft, event: Replacement) -> None:
    draft.rename(event.old_id, event.member_id)
    _update(draft, event)
    end = draft.session_end(draft.members[event.member_id])
    draft.change(event.member_id, deadline_ms=end, is_new=False)


def _rebalance_timeout(request: Join) -> int:
    timeout = request.rebalance_timeout_ms
    return max(timeout, 1) if timeout >= 0 else request.session_timeout_ms


def _answer_join(draft: Draft, event: Newcomer | Replacement | Rejoin | LookAgain) -> Answer:
    if draft.members[event.member_id].stage is Stage.JOINING:
        return Parked(NEVER, event.join._replace(again=True))
    return _joined(draft, event.member_id)


def _joined(draft: Draft, member_id: str) -> Joined:
    leads = draft.leader == member_id
    members = tuple(
        JoinedMember(each, member.instance_id, member.metadata(draft.protocol))
        for each, member in (draft.members.items() if leads else ())
    )
    return Joined(
        None,
        member_id,
        draft.generation,
        draft.protocol_type,
        draft.protocol,
        draft.leader or "",
        members,
    )


# Rebalancing


def prepare(draft: Draft) -> None:
    """Everyone must join (again). Those who wait for an assignment of the generation will not get
    one: they are told so."""
    if draft.state is State.COMPLETING_REBALANCE:
        for member_id, member in draft.members.items():
            if member.assignment:
                draft.change(member_id, assignment=b"")
    for member_id in draft.in_stage(Stage.SYNCING):
        draft.change(member_id, deadline_ms=draft.session_end(draft.members[member_id]))
    for member_id in draft.in_stage(Stage.SYNCING, Stage.JOINED):
        draft.change(member_id, stage=Stage.SETTLED)
    delay = draft.settings.initial_rebalance_delay_ms if draft.state is State.EMPTY else 0
    draft.enter(State.PREPARING_REBALANCE, draft.now + (delay or draft.rebalance_timeout_ms))
    if delay:
        draft.first_phase_ends_ms = draft.now + max(draft.rebalance_timeout_ms, delay)
    complete_if_all_joined(draft)


def complete_if_all_joined(draft: Draft, _: object = None) -> None:
    """Nobody is left to wait for; an empty group's first phase waits for those who may come."""
    if draft.all_joined and not (draft.members and draft.first_phase_ends_ms):
        complete(draft)


def end_join_phase(draft: Draft, _: PhaseEnd) -> None:
    """An empty group's first phase is prolonged while members come, up to a limit."""
    if draft.newcomers and draft.phase_ends_ms < draft.first_phase_ends_ms:
        draft.newcomers = False
        later = draft.phase_ends_ms + draft.settings.initial_rebalance_delay_ms
        draft.phase_ends_ms = min(later, draft.first_phase_ends_ms)
        return
    complete(draft)


def complete(draft: Draft) -> None:
    """Begin a generation of those who have joined, and of static members: they may come back."""
    for member_id, member in list(draft.members.items()):
        if member.stage is not Stage.JOINING and member.instance_id is None:
            draft.remove(member_id)
    if draft.members and not _elect_leader(draft):
        draft.phase_ends_ms = draft.now + draft.rebalance_timeout_ms
        draft.first_phase_ends_ms = 0
        return
    draft.generation += 1
    if not draft.members:
        draft.protocol = None
        draft.enter(State.EMPTY)
        return
    draft.protocol = draft.elect_protocol()
    draft.enter(State.COMPLETING_REBALANCE, draft.now + draft.rebalance_timeout_ms)
    for member_id, member in draft.members.items():
        end = draft.session_end(member)
        draft.change(member_id, stage=Stage.JOINED, is_new=False, deadline_ms=end)


def _elect_leader(draft: Draft) -> bool:
    joining = draft.in_stage(Stage.JOINING)
    if joining and draft.leader not in joining:
        draft.leader = joining[0]
    return bool(joining)


def interrupt_gone(draft: Draft, _: MemberGone) -> None:
    prepare(draft)


def end_sync_phase(draft: Draft, _: PhaseEnd) -> None:
    late = draft.in_stage(Stage.JOINED)
    for member_id in late:
        draft.remove(member_id)
    draft.phase_ends_ms = NEVER
    if late:
        prepare(draft)


def stay(draft: Draft, _: object) -> None:
    """Nothing to do."""


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


# The table

_EMPTY, _PREPARING = State.EMPTY, State.PREPARING_REBALANCE
_COMPLETING, _STABLE = State.COMPLETING_REBALANCE, State.STABLE

TRANSITIONS: dict[type, dict[State, Callable[[Draft, Any], Answer]]] = {
    Newcomer: {
        _EMPTY: begin,
        _PREPARING: gather,
        _COMPLETING: interrupt,
        _STABLE: interrupt,
    },
    Replacement: {
        _EMPTY: unknown_join,
        _PREPARING: gather_replacement,
        _COMPLETING: interrupt_by_replacement,
        _STABLE: replace_quietly,
    },
    Rejoin: {
        _EMPTY: unknown_join,
        _PREPARING: gather_again,
        _COMPLETING: interrupt_if_changed,
        _STABLE: interrupt_if_changed_or_leader,
    },
    LookAgain: {
        _EMPTY: unknown_join,
        _PREPARING: gather_again,
        _COMPLETING: tell,
        _STABLE: tell,
    },
    Sync: {
        _EMPTY: unknown_sync,
        _PREPARING: refuse_sync,
        _COMPLETING: assign_or_wait,
        _STABLE: take_assignment,
    },
    Heartbeat: {
        _EMPTY: unknown_beat,
        _PREPARING: call_to_join,
        _COMPLETING: hear,
        _STABLE: hear,
    },
}

REACTIONS: dict[type, dict[State, Callable[[Draft, Any], None]]] = {
    MemberGone: {
        _EMPTY: stay,
        _PREPARING: complete_if_all_joined,
        _COMPLETING: interrupt_gone,
        _STABLE: interrupt_gone,
    },
    IdLapsed: {
        _EMPTY: stay,
        _PREPARING: complete_if_all_joined,
        _COMPLETING: stay,
        _STABLE: stay,
    },
    PhaseEnd: {
        _EMPTY: stay,
        _PREPARING: end_join_phase,
        _COMPLETING: end_sync_phase,
        _STABLE: end_sync_phase,
    },
}

REQUESTS: dict[type, Callable[[Draft, Any], Answer]] = {
    Join: join,
    Sync: sync,
    Heartbeat: heartbeat,
    Leave: leave,
}


def ask(draft: Draft, request: NamedTuple) -> Answer:
    return REQUESTS[type(request)](draft, request)


def asker(request: Join | Sync) -> str:
    """Its member id, which a join may not know yet."""
    if isinstance(request, Join) and not request.member_id:
        return fresh_id(request)
    return request.member_id


def happen(draft: Draft, event: NamedTuple) -> Answer:
    return TRANSITIONS[type(event)][draft.state](draft, event)


def react(draft: Draft, event: NamedTuple) -> None:
    REACTIONS[type(event)][draft.state](draft, event)


def expire(draft: Draft) -> None:
    """Do what is overdue, sessions that ended before a phase before it."""
    while draft.next_due() <= draft.now:
        until = min(draft.now, draft.phase_ends_ms)
        lapsed = [each for each, lapses in draft.pending.items() if lapses <= until]
        silent = [each for each, member in draft.members.items() if member.expires_ms <= until]
        for member_id in lapsed:
            del draft.pending[member_id]
        for member_id in silent:
            draft.remove(member_id)
        if silent:
            react(draft, MemberGone())
        elif lapsed:
            react(draft, IdLapsed())
        else:
            react(draft, PhaseEnd())
