"""How a member of the consumer protocol moves from its current assignment to its target.

`TOWARDS` is the table: what a heartbeat does in each state of a member. A partition is assigned
only when no other member has it or may still read it. A member that must revoke partitions stays in
its epoch until it reports that it does not own them any more.
"""

from collections.abc import Callable
from typing import NamedTuple

from .assignors import NOTHING, Partitions
from .classic_state import next_number
from .consumer_state import ConsumerMember, MemberState


class Aim(NamedTuple):
    epoch: int
    target: Partitions
    held: Partitions
    """Partitions that other members have or may still read."""
    owned: Partitions | None
    """Partitions that the member reports as its own; None: it does not say."""

    def still_owns(self, partitions: Partitions) -> bool:
        return self.owned is None or not self.owned.isdisjoint(partitions)


def reconcile(member: ConsumerMember, aim: Aim) -> ConsumerMember:
    return TOWARDS[member.state](member, aim)


def _leave_epoch(member: ConsumerMember, aim: Aim) -> ConsumerMember:
    return member if member.epoch == aim.epoch else _approach(member, member.epoch, aim)


def _let_go(member: ConsumerMember, aim: Aim) -> ConsumerMember:
    if aim.still_owns(member.revoking):
        return member
    return _approach(member, next_number(member.epoch), aim)


def _take_more(member: ConsumerMember, aim: Aim) -> ConsumerMember:
    return _approach(member, member.epoch, aim)


TOWARDS: dict[MemberState, Callable[[ConsumerMember, Aim], ConsumerMember]] = {
    MemberState.STABLE: _leave_epoch,
    MemberState.UNREVOKED: _let_go,
    MemberState.UNRELEASED: _take_more,
}


def _approach(member: ConsumerMember, epoch: int, aim: Aim) -> ConsumerMember:
    kept = member.assigned & aim.target
    revoking = member.assigned - kept
    if revoking and aim.still_owns(revoking):
        return _become(member, MemberState.UNREVOKED, epoch, kept, revoking)
    missing = aim.target - kept
    unreleased = missing & aim.held
    state = MemberState.UNRELEASED if unreleased else MemberState.STABLE
    return _become(member, state, aim.epoch, kept | (missing - unreleased), NOTHING)


def _become(
    member: ConsumerMember,
    state: MemberState,
    epoch: int,
    assigned: Partitions,
    revoking: Partitions,
) -> ConsumerMember:
    changed = member._replace(
        state=state,
        epoch=epoch,
        previous_epoch=member.epoch,
        assigned=assigned,
        revoking=revoking,
    )
    # If nothing has changed, keep `previous_epoch`: the member may still use it.
    return member if changed == member._replace(previous_epoch=member.epoch) else changed
