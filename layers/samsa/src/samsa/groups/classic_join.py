"""What a join does to a classic group: a member is added, joins again or is replaced. Then the join
waits for the other members, or is answered with the generation."""

from .classic_draft import ClassicDraft
from .classic_events import Answer, LookAgain, NewMember, Rejoin, Replacement
from .classic_rebalance import complete_if_all_joined, prepare
from .classic_state import NEVER, ClassicMember, Stage
from .errors import GroupError
from .replies import Joined, JoinedMember, Parked
from .requests import rebalance_timeout


def begin(draft: ClassicDraft, event: NewMember) -> Answer:
    """The first member of an empty group: give other members some time to join too."""
    _add(draft, event)
    prepare(draft)
    return _answer_join(draft, event)


def gather(draft: ClassicDraft, event: NewMember) -> Answer:
    _add(draft, event)
    if draft.first_phase_ends_ms:
        draft.newcomers = True
    complete_if_all_joined(draft)
    return _answer_join(draft, event)


def interrupt(draft: ClassicDraft, event: NewMember) -> Answer:
    _add(draft, event)
    prepare(draft)
    return _answer_join(draft, event)


def gather_again(draft: ClassicDraft, event: Rejoin | LookAgain) -> Answer:
    _update(draft, event)
    complete_if_all_joined(draft)
    return _answer_join(draft, event)


def interrupt_if_changed(draft: ClassicDraft, event: Rejoin) -> Answer:
    """With the same metadata, the answer to the member's last join was lost: repeat it."""
    if draft.members[event.member_id].protocols == event.join.protocols:
        return tell(draft, event)
    return interrupt_again(draft, event)


def interrupt_if_changed_or_leader(draft: ClassicDraft, event: Rejoin) -> Answer:
    """A leader that joins again wants a rebalance, even with the same metadata."""
    if draft.leader == event.member_id:
        return interrupt_again(draft, event)
    return interrupt_if_changed(draft, event)


def interrupt_again(draft: ClassicDraft, event: Rejoin) -> Answer:
    _update(draft, event)
    prepare(draft)
    return _answer_join(draft, event)


def gather_replacement(draft: ClassicDraft, event: Replacement) -> Answer:
    _replace(draft, event)
    complete_if_all_joined(draft)
    return _answer_join(draft, event)


def interrupt_by_replacement(draft: ClassicDraft, event: Replacement) -> Answer:
    """The leader may be assigning to the old member id right now."""
    _replace(draft, event)
    prepare(draft)
    return _answer_join(draft, event)


def replace_quietly(draft: ClassicDraft, event: Replacement) -> Answer:
    """The instance keeps its assignment, unless the group would now elect another protocol."""
    leader_before = draft.leader
    _replace(draft, event)
    if draft.elect_protocol() != draft.protocol:
        prepare(draft)
        return _answer_join(draft, event)
    draft.change(event.member_id, stage=Stage.SETTLED)
    told = _joined(draft, event.member_id)
    if event.join.can_skip_assignment:
        return told._replace(skip_assignment=bool(told.members))
    # A client that cannot skip the assignment must not believe it is the leader: it would assign.
    return told._replace(leader=leader_before or "", members=())


def tell(draft: ClassicDraft, event: Rejoin | LookAgain) -> Answer:
    draft.prolong_session(event.member_id)
    return _joined(draft, event.member_id)


def unknown_join(_: ClassicDraft, event: Rejoin | LookAgain | Replacement) -> Answer:
    return Joined(GroupError.UNKNOWN_MEMBER_ID, event.join.member_id)


def _add(draft: ClassicDraft, event: NewMember) -> None:
    request = event.join
    member = ClassicMember(
        instance_id=request.instance_id,
        client_id=request.client_id,
        client_host=request.client_host,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=rebalance_timeout(request, draft.settings),
        protocols=request.protocols,
        stage=Stage.JOINING,
        deadline_ms=draft.now + draft.settings.new_member_join_timeout_ms,
        is_new=True,
        ticket=request.ticket,
        waiter=request.waiter,
        answered_by=draft.heartbeats.answered_by,
    )
    draft.add(event.member_id, member, request.protocol_type)


def _update(draft: ClassicDraft, event: Rejoin | LookAgain | Replacement) -> None:
    request = event.join
    draft.change(
        event.member_id,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=rebalance_timeout(request, draft.settings),
        protocols=request.protocols,
        stage=Stage.JOINING,
        ticket=request.ticket,
        waiter=request.waiter,
        answered_by=draft.heartbeats.answered_by,
    )


def _replace(draft: ClassicDraft, event: Replacement) -> None:
    draft.rename(event.old_id, event.member_id)
    _update(draft, event)
    end = draft.session_end(draft.members[event.member_id])
    draft.change(event.member_id, deadline_ms=end, is_new=False)


def _answer_join(
    draft: ClassicDraft, event: NewMember | Replacement | Rejoin | LookAgain
) -> Answer:
    if draft.members[event.member_id].stage is Stage.JOINING:
        return Parked(NEVER, event.join._replace(again=True))
    return _joined(draft, event.member_id)


def _joined(draft: ClassicDraft, member_id: str) -> Joined:
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
