"""A classic group while a step works on it.

Members are replaced, never changed in place, and their table is copied before the first change. So
the group that the step started from stays as it was. Most requests concern one member: facts about
all members are computed once per step, or stop at the first member that decides them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from .classic_state import NEVER, ClassicGroup, ClassicMember, ClassicState, Stage
from .heartbeat_coalescing import NO_HEARTBEATS, MemberHeartbeats, is_worth_a_write
from .requests import Protocols
from .settings import GroupSettings

_JOINING = Stage.JOINING


class ClassicDraft:
    def __init__(
        self,
        group: ClassicGroup,
        now_ms: int,
        settings: GroupSettings,
        heartbeats: MemberHeartbeats = NO_HEARTBEATS,
    ) -> None:
        self.now = now_ms
        self.heartbeats = heartbeats
        self.settings = settings
        self.before = group
        self.state = group.state
        self.generation = group.generation
        self.protocol_type = group.protocol_type
        self.protocol = group.protocol
        self.leader = group.leader
        self.members: Mapping[str, ClassicMember] = group.members
        self._own: dict[str, ClassicMember] | None = None
        self.pending = dict(group.pending)
        self.changed_at_ms = group.changed_at_ms
        self.phase_ends_ms = group.phase_ends_ms
        self.first_phase_ends_ms = group.first_phase_ends_ms
        self.newcomers = group.newcomers
        self.written_at_ms = group.written_at_ms

    def group(self) -> ClassicGroup:
        after = ClassicGroup(
            self.state,
            self.generation,
            self.protocol_type,
            self.protocol,
            self.leader,
            self.members,
            self.pending,
            self.changed_at_ms,
            self.phase_ends_ms,
            self.first_phase_ends_ms,
            self.newcomers,
            self.before.due_ms,
            self.before.written_at_ms,
        )
        if after == self.before:
            return self.before
        sessions = (member.expires_ms for member in self.members.values())
        written = max(self.now, self.written_at_ms)
        return after._replace(due_ms=self._first(sessions), written_at_ms=written)

    def next_due(self) -> int:
        """When something is due, as far as this process knows; never before the stored due time."""
        return self._first(self.end_of(*each) for each in self.members.items())

    def _first(self, sessions: Iterable[int]) -> int:
        return min(self.phase_ends_ms, *self.pending.values(), *sessions, NEVER)

    def pull_in(self) -> None:
        """The clock was set back since the group was written: move all deadlines back by as much.
        So no deadline is further in the future than its own length."""
        by, self.written_at_ms = self.written_at_ms - self.now, self.now
        for member_id, member in self.members.items():
            self.change(member_id, deadline_ms=member.deadline_ms - by)
        self.pending = {each: lapses - by for each, lapses in self.pending.items()}
        if self.phase_ends_ms != NEVER:
            self.phase_ends_ms -= by
        self.first_phase_ends_ms = max(self.first_phase_ends_ms - by, 0)
        self.changed_at_ms = min(self.changed_at_ms, self.now)

    # Members

    def _to_be_changed(self) -> dict[str, ClassicMember]:
        if self._own is None:
            self.members = self._own = dict(self.members)
        return self._own

    def change(self, member_id: str, **changes: Any) -> None:
        self._to_be_changed()[member_id] = self.members[member_id]._replace(**changes)

    def add(self, member_id: str, member: ClassicMember, protocol_type: str) -> None:
        if not self.members:
            self.protocol_type = protocol_type
        self._to_be_changed()[member_id] = member
        self.leader = self.leader or member_id

    def remove(self, member_id: str) -> None:
        del self._to_be_changed()[member_id]
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)

    def rename(self, old_id: str, new_id: str) -> None:
        """The new member takes the old one's place, also in the order of members."""
        ids = [new_id if member_id == old_id else member_id for member_id in self.members]
        self.members = self._own = dict(zip(ids, self.members.values(), strict=True))
        if self.leader == old_id:
            self.leader = new_id

    def static_id(self, instance_id: str) -> str | None:
        """The member id that an instance has now."""
        for member_id, member in self.members.items():
            if member.instance_id == instance_id:
                return member_id
        return None

    def session_end(self, member: ClassicMember) -> int:
        return self.now + member.session_timeout_ms

    def end_of(self, member_id: str, member: ClassicMember) -> int:
        """When the member is removed, unless it sends something before."""
        at, timeout = member.expires_ms, member.session_timeout_ms
        if at == NEVER or member.is_new:
            return at
        return self.heartbeats.end_of(member_id, member.answered_by, at, timeout)

    def prolong_session(self, member_id: str) -> None:
        """Prolong the member's session, if that is worth a write."""
        member = self.members[member_id]
        end, answered_by = self.session_end(member), self.heartbeats.answered_by
        worth = is_worth_a_write(end, member.deadline_ms, member.session_timeout_ms)
        if worth or member.answered_by != answered_by:
            self.change(
                member_id, deadline_ms=max(end, member.deadline_ms), answered_by=answered_by
            )

    @property
    def rebalance_timeout_ms(self) -> int:
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=1)

    @property
    def all_joined(self) -> bool:
        joined = (member.stage is _JOINING for member in self.members.values())
        return not self.pending and all(joined)

    def in_stage(self, *stages: Stage) -> list[str]:
        return [each for each, member in self.members.items() if member.stage in stages]

    def anyone_in(self, stage: Stage) -> bool:
        return any(member.stage is stage for member in self.members.values())

    def is_parked(self, member_id: str) -> bool:
        member = self.members.get(member_id)
        return member is not None and member.is_parked

    # The group

    def enter(self, state: ClassicState, phase_ends_ms: int = NEVER) -> None:
        self.state = state
        self.changed_at_ms = self.now
        self.phase_ends_ms = phase_ends_ms
        self.first_phase_ends_ms = 0
        self.newcomers = False

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """Whether a member with these protocols may be in the group."""
        if self.state is ClassicState.EMPTY:
            return bool(protocol_type and protocols)
        if protocol_type != self.protocol_type:
            return False
        names = {name for name, _ in protocols}
        first = next(iter(self.members.values()), None)
        if first is None or names == {name for name, _ in first.protocols}:
            return bool(names)  # the same protocols as one member: so it shares one with all
        return not names.isdisjoint(self._common(each.protocols for each in self.members.values()))

    def elect_protocol(self) -> str:
        """Every member votes for the first of its protocols that all members support."""
        common = self._common(member.protocols for member in self.members.values())
        votes = Counter(
            next(name for name, _ in member.protocols if name in common)
            for member in self.members.values()
        )
        return max(sorted(votes), key=votes.__getitem__)

    @staticmethod
    def _common(offers: Iterable[Protocols]) -> set[str]:
        named = [{name for name, _ in protocols} for protocols in offers]
        return set.intersection(*named) if named else set()
