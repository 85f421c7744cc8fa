"""The classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

`TRANSITIONS` is the whole state machine: what each event does in each state. It reads beside
Kafka's GroupMetadataManager. `classic_requests` says which event a request is; what the events do
is in `classic_join`, `classic_sync` and `classic_rebalance`. There are no timers as in Kafka: each
step first ends every session and phase that is overdue.

A join that must wait for other members, or a follower's sync that must wait for the leader, is
*parked in the state*: its member is in stage JOINING or SYNCING, and names its waiter. Any process
may complete it; the waiter then asks again, and is answered from the state:

- A **join** is recognised by its ticket, which is kept with the member until its next join. Asked
  again while it waits, it stays parked. After its generation has begun, the answer is that
  generation (even for the leader, in a stable group). If the next rebalance has begun meanwhile, it
  takes part in it.
- A join that **had no member id** got one that ends in its ticket, so it can be found again.
- A client whose **answer was lost** sends a join with another ticket, and is served by Kafka's
  rules: with the same metadata it gets the generation again, with other metadata it starts a
  rebalance. A request that still has the old ticket is refused, and nothing changes.
- A **sync** is the same request each time: the generation says which assignment is meant.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from .classic_draft import ClassicDraft
from .classic_events import (
    Answer,
    IdLapsed,
    LookAgain,
    MemberGone,
    NewMember,
    PhaseEnd,
    Rejoin,
    Replacement,
)
from .classic_join import (
    begin,
    gather,
    gather_again,
    gather_replacement,
    interrupt,
    interrupt_by_replacement,
    interrupt_if_changed,
    interrupt_if_changed_or_leader,
    replace_quietly,
    tell,
    unknown_join,
)
from .classic_rebalance import (
    complete_if_all_joined,
    end_join_phase,
    end_sync_phase,
    interrupt_gone,
    stay,
)
from .classic_state import ClassicState
from .classic_sync import (
    accept_heartbeat,
    assign_or_wait,
    call_to_join,
    refuse_sync,
    take_assignment,
    unknown_heartbeat,
    unknown_sync,
)
from .requests import Heartbeat, Sync

_EMPTY, _PREPARING = ClassicState.EMPTY, ClassicState.PREPARING_REBALANCE
_COMPLETING, _STABLE = ClassicState.COMPLETING_REBALANCE, ClassicState.STABLE

TRANSITIONS: dict[type, dict[ClassicState, Callable[[ClassicDraft, Any], Answer]]] = {
    NewMember: {
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
        _EMPTY: unknown_heartbeat,
        _PREPARING: call_to_join,
        _COMPLETING: accept_heartbeat,
        _STABLE: accept_heartbeat,
    },
}

REACTIONS: dict[type, dict[ClassicState, Callable[[ClassicDraft, Any], None]]] = {
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


def happen(draft: ClassicDraft, event: NamedTuple) -> Answer:
    return TRANSITIONS[type(event)][draft.state](draft, event)


def react(draft: ClassicDraft, event: NamedTuple) -> None:
    REACTIONS[type(event)][draft.state](draft, event)


def expire(draft: ClassicDraft) -> None:
    """Do what is overdue, in order: sessions that ended before the phase come before the phase."""
    while draft.next_due() <= draft.now:
        until = min(draft.now, draft.phase_ends_ms)
        lapsed = [each for each, lapses in draft.pending.items() if lapses <= until]
        silent = [each[0] for each in draft.members.items() if draft.end_of(*each) <= until]
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
