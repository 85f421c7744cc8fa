"""A group over a clock that is set by hand. Whatever a step leaves is stored and read back."""

from dataclasses import dataclass, field
from itertools import count
from uuid import UUID

from samsa import groups

SESSION = 10_000
REBALANCE = 30_000
DELAY = 3_000
T, U = UUID(int=1), UUID(int=2)


@dataclass
class Given:
    group: groups.Group | None = None
    now: int = 1_000_000
    settings: groups.GroupSettings = field(default_factory=groups.GroupSettings)
    woken: frozenset[str] = frozenset()
    topics: dict = field(
        default_factory=lambda: {"t": groups.TopicInfo(T, 4), "u": groups.TopicInfo(U, 2)}
    )
    tickets: "count[int]" = field(default_factory=count)

    def ask(self, request):
        before = self.group
        done = groups.step(before, request, self.now, self.settings)
        self.wrote = done.group is not before
        if done.group is not None:
            self.group = groups.unpack(groups.pack(done.group)) if self.wrote else before
            assert self.group == done.group
        self.woken = done.wake
        return done.answer

    def join(self, member_id="", **changes):
        defaults = groups.Join(
            member_id,
            None,
            "consumer",
            (("range", b"meta"),),
            SESSION,
            REBALANCE,
            "client",
            "/127.0.0.1",
            f"ticket{next(self.tickets)}",
            waiter="here",
            requires_id=False,
        )
        return self.ask(defaults._replace(**changes))

    def sync(self, member_id, generation, assignments=None, **changes):
        request = groups.Sync(member_id, generation, assignments=assignments or {}, waiter="here")
        return self.ask(request._replace(**changes))

    def beat(self, member_id, generation, **changes):
        return self.ask(groups.Heartbeat(member_id, generation)._replace(**changes)).error

    def leave(self, *members):
        return self.ask(groups.Leave(tuple(groups.Leaving(*each) for each in members)))

    def heartbeat(self, member_id, epoch, /, **changes):
        request = groups.ConsumerHeartbeat(member_id, epoch, known=self.topics)
        if epoch == 0:
            request = request._replace(
                topics=("t",), rebalance_timeout_ms=REBALANCE, owned=frozenset()
            )
        return self.ask(request._replace(**changes))

    # Whole stories

    def stable(self, *names: str, **changes) -> list[str]:
        """A stable classic group; the members' ids, the leader's first."""
        parked = [self.join(client_id=name, **changes) for name in names]
        while any(isinstance(answer, groups.Parked) for answer in parked):
            self.now = max(
                self.now, *(a.deadline_ms for a in parked if isinstance(a, groups.Parked))
            )
            parked = [self.ask(a.ask) if isinstance(a, groups.Parked) else a for a in parked]
        ids = [answer.member_id for answer in parked]
        generation = parked[0].generation
        for member_id in ids[1:]:
            self.sync(member_id, generation)
        self.sync(ids[0], generation, {each: each.encode() for each in ids})
        for member_id in ids[1:]:
            self.sync(member_id, generation)
        return ids

    def static(self, *instances: str, share: bytes = b"", **changes) -> list[str]:
        parked = [self.join(instance_id=each, **changes) for each in instances]
        self.now += 3 * DELAY
        joined = [self.ask(answer.ask) for answer in parked]
        joined = [self.ask(answer.ask) for answer in parked]
        ids = [answer.member_id for answer in joined]
        for member_id in ids[1:]:
            self.sync(member_id, joined[0].generation)
        self.sync(ids[0], joined[0].generation, {each: share or each.encode() for each in ids})
        return ids


def parts(topic: UUID, *numbers: int) -> frozenset:
    return frozenset((topic, number) for number in numbers)
