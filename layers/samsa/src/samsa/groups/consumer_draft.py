"""A group of the consumer protocol while a step works on it."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from .assignors import ASSIGNORS, NOTHING, Partitions, Subscriber
from .classic_draft import SLACK
from .classic_state import NEVER
from .consumer_state import NO_TOPIC, ConsumerGroup, ConsumerMember, MemberState
from .reconcile import Aim, reconcile
from .requests import Matches, Topics
from .settings import Settings


class ConsumerDraft:
    def __init__(self, group: ConsumerGroup, now_ms: int, settings: Settings) -> None:
        self.now = now_ms
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
        )
        return self.before if after == self.before else after._replace(due_ms=self.next_due())

    def next_due(self) -> int:
        return min((member.expires_ms for member in self.members.values()), default=NEVER)

    # Members

    def change(self, member_id: str, **changes: Any) -> None:
        self.members[member_id] = self.members[member_id]._replace(**changes)

    def put(self, member_id: str, member: ConsumerMember) -> None:
        """Add or change. A new or differently subscribed member makes a new group epoch."""
        before = self.members.get(member_id)
        self.members[member_id] = member
        if before is None:
            self.changed_at_ms = self.now
        if before is None or (before.topics, before.pattern) != (member.topics, member.pattern):
            self.epoch += 1

    def remove(self, member_ids: Iterable[str]) -> None:
        for member_id in member_ids:
            del self.members[member_id]
            self.targets.pop(member_id, None)
            self.changed_at_ms = self.now
        self.epoch += 1

    def rename(self, old_id: str, new_id: str) -> None:
        """A static member comes back under another id, and takes its assignment up."""
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

    def hear(self, member_id: str) -> None:
        """Prolong a session, where that is worth a write."""
        member = self.members[member_id]
        side = member.classic
        timeout = side.session_timeout_ms if side else self.settings.consumer_session_timeout_ms
        end = self.now + timeout + timeout // SLACK
        if not 0 <= end - member.session_ends_ms < timeout // SLACK:
            self.change(member_id, session_ends_ms=end)

    # Assignment

    def follow_topics(self, known: Topics, matches: Matches, looked_at_ms: int) -> None:
        """Make a new group epoch if what the members subscribe to is not what it was. A process
        that looked before the one that made the latest epoch does not know better."""
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
            self.epoch += 1
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
        """Lead the member on towards its target."""
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
