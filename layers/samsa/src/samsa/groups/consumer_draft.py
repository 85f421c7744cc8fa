"""A group of the consumer protocol while a step works on it."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from .assignors import ASSIGNORS, NOTHING, Partitions, Subscriber
from .classic_state import NEVER, next_number
from .consumer_state import NO_TOPIC, ConsumerGroup, ConsumerMember, MemberState
from .heartbeat_coalescing import NO_HEARTBEATS, MemberHeartbeats, is_worth_a_write
from .reconcile import Aim, reconcile
from .requests import Matches, Topics
from .settings import GroupSettings


class ConsumerDraft:
    def __init__(
        self,
        group: ConsumerGroup,
        now_ms: int,
        settings: GroupSettings,
        heartbeats: MemberHeartbeats = NO_HEARTBEATS,
    ) -> None:
        self.now = now_ms
        self.heartbeats = heartbeats
        self.settings = settings
        self.before = group
        self.epoch = group.epoch
        self.assignment_epoch = group.assignment_epoch
        self.members = dict(group.members)
        self.targets = dict(group.targets)
        self.topics = group.topics
        self.matches = group.matches
        self.changed_at_ms = group.changed_at_ms
        self.topics_at_ms = group.topics_at_ms
        self.written_at_ms = group.written_at_ms

    def group(self) -> ConsumerGroup:
        after = ConsumerGroup(
            self.epoch,
            self.assignment_epoch,
            self.members,
            self.targets,
            self.topics,
            self.matches,
            self.changed_at_ms,
            self.before.due_ms,
            self.topics_at_ms,
            self.before.written_at_ms,
        )
        if after == self.before:
            return self.before
        due = min((member.expires_ms for member in self.members.values()), default=NEVER)
        return after._replace(due_ms=due, written_at_ms=max(self.now, self.written_at_ms))

    def next_due(self) -> int:
        """When something is due, as far as this process knows; never before the stored due time."""
        return min((self.end_of(*each) for each in self.members.items()), default=NEVER)

    def pull_in(self) -> None:
        """As for a classic group: move all deadlines back, because the clock was set back."""
        by, self.written_at_ms = self.written_at_ms - self.now, self.now
        for member_id, member in self.members.items():
            side = member.classic
            self.members[member_id] = member._replace(
                session_ends_ms=member.session_ends_ms - by,
                revoke_by_ms=_earlier(member.revoke_by_ms, by),
                classic=side
                and side._replace(
                    join_by_ms=_earlier(side.join_by_ms, by),
                    sync_by_ms=_earlier(side.sync_by_ms, by),
                ),
            )
        self.changed_at_ms = min(self.changed_at_ms, self.now)
        self.topics_at_ms = min(self.topics_at_ms, self.now)

    # Members

    def change(self, member_id: str, **changes: Any) -> None:
        self.members[member_id] = self.members[member_id]._replace(**changes)

    def put(self, member_id: str, member: ConsumerMember) -> None:
        """Add or change a member. A new member or a new subscription makes a new group epoch."""
        before = self.members.get(member_id)
        self.members[member_id] = member
        if before is None:
            self.changed_at_ms = self.now
        if before is None or (before.topics, before.pattern) != (member.topics, member.pattern):
            self.epoch = next_number(self.epoch)

    def remove(self, member_ids: Iterable[str]) -> None:
        for member_id in member_ids:
            del self.members[member_id]
            self.targets.pop(member_id, None)
            self.changed_at_ms = self.now
        self.epoch = next_number(self.epoch)

    def rename(self, old_id: str, new_id: str) -> None:
        """A static member comes back under another id, and keeps its assignment."""
        ids = [new_id if member_id == old_id else member_id for member_id in self.members]
        self.members = dict(zip(ids, self.members.values(), strict=True))
        if old_id in self.targets:
            self.targets[new_id] = self.targets.pop(old_id)
        self.change(new_id, epoch=0, previous_epoch=0)

    def static_id(self, instance_id: str) -> str | None:
        for member_id, member in self.members.items():
            if member.instance_id == instance_id:
                return member_id
        return None

    def _timeout(self, member: ConsumerMember) -> int:
        side = member.classic
        return side.session_timeout_ms if side else self.settings.consumer_session_timeout_ms

    def end_of(self, member_id: str, member: ConsumerMember) -> int:
        """When the member is removed, unless it sends something before, and does what it must."""
        if member.expires_ms == NEVER:
            return NEVER
        end, timeout = member.session_ends_ms, self._timeout(member)
        session = self.heartbeats.end_of(member_id, member.answered_by, end, timeout)
        return min(session, member.act_by_ms)

    def prolong_session(self, member_id: str) -> None:
        """Prolong the member's session, if that is worth a write."""
        member = self.members[member_id]
        timeout, answered_by = self._timeout(member), self.heartbeats.answered_by
        end, stored = self.now + timeout, member.session_ends_ms
        # A member that changes its protocol may have a shorter session from now on.
        if (
            stored > end
            or is_worth_a_write(end, stored, timeout)
            or member.answered_by != answered_by
        ):
            self.change(member_id, session_ends_ms=end, answered_by=answered_by)

    # Assignment

    def follow_topics(self, known: Topics, matches: Matches, looked_at_ms: int) -> None:
        """Make a new group epoch if the subscribed topics have changed. If this look is older than
        the one of the latest epoch, what the group has noted wins."""
        if looked_at_ms < self.topics_at_ms:
            known, matches = {**known, **self.topics}, {**matches, **self.matches}
        if self.epoch == self.assignment_epoch and self._is_current(known, matches):
            return
        patterns = {member.pattern for member in self.members.values() if member.pattern}
        resolved = {p: matches.get(p, self.matches.get(p, ())) for p in sorted(patterns)}
        names = {name for member in self.members.values() for name in member.topics}
        names.update(name for found in resolved.values() for name in found)
        topics = {name: known.get(name, NO_TOPIC) for name in sorted(names)}
        if self.epoch == self.assignment_epoch:
            self.epoch = next_number(self.epoch)
        self.topics, self.matches = topics, resolved
        self.topics_at_ms = max(looked_at_ms, self.topics_at_ms)

    def _is_current(self, known: Topics, matches: Matches) -> bool:
        return all(known.get(name, NO_TOPIC) == info for name, info in self.topics.items()) and all(
            matches.get(pattern, found) == found for pattern, found in self.matches.items()
        )

    def assign(self) -> None:
        """Compute the targets of a new group epoch."""
        if self.epoch == self.assignment_epoch:
            return
        counts = {info.id: info.partitions for info in self.topics.values() if info.partitions}
        assignor = ASSIGNORS[self.elected_assignor()]
        given = assignor(
            {each: self._subscriber(each, member) for each, member in self.members.items()}, counts
        )
        self.targets = {each: partitions for each, partitions in given.items() if partitions}
        self.assignment_epoch = self.epoch

    def elected_assignor(self) -> str:
        votes = Counter(member.assignor for member in self.members.values() if member.assignor)
        default = self.settings.consumer_assignors[0]
        return max(sorted(votes), key=votes.__getitem__) if votes else default

    def _subscriber(self, member_id: str, member: ConsumerMember) -> Subscriber:
        names = (*member.topics, *self.matches.get(member.pattern, ()))
        infos = [self.topics[name] for name in names if name in self.topics]
        ids = frozenset(info.id for info in infos if info.partitions)
        return Subscriber(member.instance_id, ids, self.targets.get(member_id, NOTHING))

    def advance(self, member_id: str, owned: Partitions | None) -> None:
        """Move the member one step towards its target."""
        member = self.members[member_id]
        if member.state is MemberState.STABLE and member.epoch == self.assignment_epoch:
            return
        target = self.targets.get(member_id, NOTHING)
        aim = Aim(self.assignment_epoch, target, self.held_by_others(member_id), owned)
        moved = reconcile(member, aim)
        if moved is member:
            return
        by = NEVER
        if moved.state is MemberState.UNREVOKED and moved.classic is None:
            by = self.now + moved.rebalance_timeout_ms
        self.members[member_id] = moved._replace(revoke_by_ms=by)

    def held_by_others(self, member_id: str) -> Partitions:
        return NOTHING.union(
            *(member.holds for each, member in self.members.items() if each != member_id)
        )


def _earlier(deadline_ms: int, by: int) -> int:
    return deadline_ms if deadline_ms == NEVER else deadline_ms - by
