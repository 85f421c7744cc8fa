"""From one generation of a classic group to the next: all members join, then all sync."""

from .classic_draft import ClassicDraft
from .classic_events import MemberGone, PhaseEnd
from .classic_state import NEVER, ClassicState, Stage, next_number


def prepare(draft: ClassicDraft) -> None:
    """Begin the join phase: every member must join (again). Members that wait for an assignment of
    the current generation get none: their parked syncs are refused."""
    if draft.state is ClassicState.COMPLETING_REBALANCE:
        for member_id, member in draft.members.items():
            if member.assignment:
                draft.change(member_id, assignment=b"")
    for member_id in draft.in_stage(Stage.SYNCING):
        draft.change(member_id, deadline_ms=draft.session_end(draft.members[member_id]))
    for member_id in draft.in_stage(Stage.SYNCING, Stage.JOINED):
        draft.change(member_id, stage=Stage.SETTLED)
    delay = draft.settings.initial_rebalance_delay_ms if draft.state is ClassicState.EMPTY else 0
    draft.enter(ClassicState.PREPARING_REBALANCE, draft.now + (delay or draft.rebalance_timeout_ms))
    if delay:
        draft.first_phase_ends_ms = draft.now + max(draft.rebalance_timeout_ms, delay)
    complete_if_all_joined(draft)


def complete_if_all_joined(draft: ClassicDraft, _: object = None) -> None:
    """End the join phase if all members have joined. But the first phase of a group that was empty
    lasts its full time while it has members, as more may join."""
    if draft.all_joined and not (draft.members and draft.first_phase_ends_ms):
        complete(draft)


def end_join_phase(draft: ClassicDraft, _: PhaseEnd) -> None:
    """The first phase of a group that was empty is prolonged while members join, up to a limit."""
    if draft.newcomers and draft.phase_ends_ms < draft.first_phase_ends_ms:
        draft.newcomers = False
        later = draft.phase_ends_ms + draft.settings.initial_rebalance_delay_ms
        draft.phase_ends_ms = min(later, draft.first_phase_ends_ms)
        return
    complete(draft)


def complete(draft: ClassicDraft) -> None:
    """Begin a generation of the members that have joined, and of static members, which may come
    back."""
    for member_id, member in list(draft.members.items()):
        if member.stage is not Stage.JOINING and member.instance_id is None:
            draft.remove(member_id)
    if draft.members and not _elect_leader(draft):
        draft.phase_ends_ms = draft.now + draft.rebalance_timeout_ms
        draft.first_phase_ends_ms = 0
        return
    draft.generation = next_number(draft.generation)
    if not draft.members:
        draft.protocol = None
        draft.enter(ClassicState.EMPTY)
        return
    draft.protocol = draft.elect_protocol()
    draft.enter(ClassicState.COMPLETING_REBALANCE, draft.now + draft.rebalance_timeout_ms)
    for member_id, member in draft.members.items():
        end = draft.session_end(member)
        draft.change(member_id, stage=Stage.JOINED, is_new=False, deadline_ms=end)


def _elect_leader(draft: ClassicDraft) -> bool:
    joining = draft.in_stage(Stage.JOINING)
    if joining and draft.leader not in joining:
        draft.leader = joining[0]
    return bool(joining)


def interrupt_gone(draft: ClassicDraft, _: MemberGone) -> None:
    prepare(draft)


def end_sync_phase(draft: ClassicDraft, _: PhaseEnd) -> None:
    late = draft.in_stage(Stage.JOINED)
    for member_id in late:
        draft.remove(member_id)
    draft.phase_ends_ms = NEVER
    if late:
        prepare(draft)


def stay(draft: ClassicDraft, _: object) -> None:
    """Nothing to do."""
