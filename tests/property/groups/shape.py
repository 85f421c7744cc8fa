"""What must be true of any stored group, whatever happened to it."""

from property.groups.world import SESSION_MS, SETTINGS, Violation

from samsa.groups import ClassicGroup, ConsumerGroup
from samsa.groups.classic_state import ClassicState, Stage
from samsa.groups.consumer_state import MemberState
from samsa.groups.step import CLOCK_TOLERANCE_MS


def check_shape(group, now: int, rebalance_ms: int) -> None:
    """Deadlines that were written before the clock was set back stay until somebody looks."""
    if group is not None:
        now = max(now + CLOCK_TOLERANCE_MS, group.written_at_ms)
    if isinstance(group, ClassicGroup):
        _check_classic(group, now, rebalance_ms)
    elif isinstance(group, ConsumerGroup):
        _check_consumer(group, now, rebalance_ms)
    if group is not None:
        instances = [m.instance_id for m in group.members.values() if m.instance_id]
        _hold(len(instances) == len(set(instances)), "two members have one instance id")


def _check_classic(group: ClassicGroup, now: int, rebalance_ms: int) -> None:
    for member_id, member in group.members.items():
        length = SETTINGS.new_member_join_timeout_ms if member.is_new else SESSION_MS
        _hold(member.deadline_ms <= now + length, f"the session of {member_id} does not end")
        joins = member.stage is not Stage.JOINING or group.state is ClassicState.PREPARING_REBALANCE
        _hold(joins, f"{member_id} joins, and nothing is prepared")
        syncs = (
            member.stage is not Stage.SYNCING or group.state is ClassicState.COMPLETING_REBALANCE
        )
        _hold(syncs, f"{member_id} waits for an assignment that will not come")
    idle = not group.members and not group.pending
    _hold(not group.members or group.state is not ClassicState.EMPTY, "empty, and has members")
    _hold(not idle or group.state is ClassicState.EMPTY, "has no members, and is not empty")
    _hold(group.leader in (group.members or {None: None}), "the leader is no member")
    _hold(max(group.pending.values(), default=0) <= now + SESSION_MS, "an id does not lapse")
    if group.state in (ClassicState.PREPARING_REBALANCE, ClassicState.COMPLETING_REBALANCE):
        latest = now + max(rebalance_ms, 3_000)
        _hold(group.phase_ends_ms <= latest, "a phase does not end")


def _check_consumer(group: ConsumerGroup, now: int, rebalance_ms: int) -> None:
    owners: dict = {}
    for member_id, member in group.members.items():
        _hold(member.session_ends_ms <= now + SESSION_MS, f"the session of {member_id} lasts")
        for which in member.holds:
            other = owners.setdefault(which, member_id)
            _hold(other == member_id, f"{other} and {member_id} have {which}")
        if member.state is MemberState.UNREVOKED and member.classic is None:
            _hold(member.revoke_by_ms <= now + rebalance_ms, f"{member_id} may keep all for ever")
    _hold(
        not group.members or any(member.classic is None for member in group.members.values()),
        "all members are classic, and the group is not",
    )
    targets = [which for target in group.targets.values() for which in target]
    _hold(len(targets) == len(set(targets)), "a partition has two targets")


def _hold(true: bool, otherwise: str) -> None:
    if not true:
        raise Violation(otherwise)
