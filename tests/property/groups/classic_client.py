"""A client of the classic protocol, eager or cooperative, as real ones behave."""

from property.groups.subscriptions import assigned, assignment, said, subscription
from property.groups.world import SESSION_MS, Violation

from samsa import groups

LOST = {groups.GroupError.UNKNOWN_MEMBER_ID, groups.GroupError.ILLEGAL_GENERATION}


class ClassicClient:
    kind = "classic"

    def __init__(self, world, name, instance_id=None, cooperative=False, requires_id=True):
        self.world = world
        self.name = name
        self.label = instance_id or name
        self.instance_id = instance_id
        self.cooperative = cooperative
        self.requires_id = requires_id
        self.topics = ("t", "u")
        self.joined_topics = self.topics
        self.member_id = ""
        self.generation = -1
        self.leads = False
        self.members = ()
        self.owned: set = set()
        self.phase = "out"
        self.asked = None
        self.last_ok = 0
        self.next_at = 0
        self.alive = True

    # What it believes

    def believes(self) -> set:
        fresh = self.world.now < self.last_ok + min(SESSION_MS, self.world.rebalance_ms)
        return self.owned if self.alive and fresh else set()

    def claims(self) -> set:
        return self.owned

    def commits_as(self) -> tuple:
        return self.member_id, self.instance_id, self.generation

    @property
    def is_settled(self) -> bool:
        return self.phase == "stable"

    # What it does

    def act(self) -> None:
        if self.asked is None:
            {"out": self.join, "joined": self.sync, "stable": self.beat}[self.phase]()

    def give_up(self) -> None:
        """Its request timed out: it asks anew, on another connection."""
        self.unanswered()

    def subscribe(self, topics) -> None:
        self.topics = topics
        if self.phase == "stable" and topics != self.joined_topics:
            self.phase = "out"

    def unanswered(self) -> None:
        self.asked = None
        if self.phase == "joined":
            self.phase = "out"

    def waits_for(self, ask) -> bool:
        return self.alive and self.asked is not None and self.asked[0] == _identity(ask)

    def join(self) -> None:
        self.phase = "out"
        if not self.cooperative:
            self.owned = set()
        protocol = "cooperative" if self.cooperative else "eager"
        metadata = subscription(self.topics, self.owned)
        self.joined_topics = self.topics
        request = groups.Join(
            self.member_id,
            self.instance_id,
            "consumer",
            ((protocol, metadata),),
            SESSION_MS,
            self.world.rebalance_ms,
            self.name,
            "/127.0.0.1",
            self.world.ticket(),
            requires_id=self.requires_id,
        )
        if isinstance(self.world.group, groups.ConsumerGroup):
            patterns = groups.patterns_of(self.world.group, request)
            request = request._replace(
                known=self.world.topics, matches=self.world.resolve(patterns)
            )
        self.ask(request)

    def sync(self) -> None:
        shares = self.share() if self.leads else {}
        self.ask(groups.Sync(self.member_id, self.generation, self.instance_id, assignments=shares))

    def beat(self) -> None:
        self.next_at = self.world.now + 2_000
        self.ask(groups.Heartbeat(self.member_id, self.generation, self.instance_id))

    def leave(self) -> None:
        self.alive = False
        self.ask(groups.Leave((groups.Leaving(self.member_id, self.instance_id),)))

    def ask(self, request) -> None:
        self.asked = (_identity(request),)
        self.world.send(self, request)

    # What it hears

    def hear(self, answer) -> None:
        self.asked = None
        if not self.alive:
            return
        self.world.note(f"{self.name} ← {type(answer).__name__} {answer.error}")
        if answer.error in LOST:
            self.forget(answer.error)
        elif answer.error is groups.GroupError.FENCED_INSTANCE_ID:
            self.alive = False
        elif isinstance(answer, groups.Joined):
            self.joined(answer)
        elif isinstance(answer, groups.Synced):
            self.synced(answer)
        elif isinstance(answer, groups.HeartbeatAnswer):
            self.beaten(answer)

    def forget(self, error) -> None:
        self.owned = set()
        self.phase = "out"
        self.generation = -1
        if error is groups.GroupError.UNKNOWN_MEMBER_ID:
            self.member_id = ""

    def joined(self, answer: groups.Joined) -> None:
        if answer.error is groups.GroupError.MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
        elif answer.error is None:
            self.member_id = answer.member_id
            self.generation = answer.generation
            self.leads = bool(answer.members) and not answer.skip_assignment
            self.members = answer.members
            self.phase = "joined"
            self.next_at = self.world.now
        elif answer.error is not groups.GroupError.REBALANCE_IN_PROGRESS:
            raise Violation(f"{self.name} may not join: {answer.error}")

    def synced(self, answer: groups.Synced) -> None:
        if answer.error is groups.GroupError.REBALANCE_IN_PROGRESS:
            self.phase = "out"
            return
        if answer.error:
            raise Violation(f"{self.name} may not sync: {answer.error}")
        mine = assigned(answer.assignment)
        for which in mine:
            self.world.tell(self, self.generation, which)
        revoked = self.owned - mine
        self.owned = mine
        self.last_ok = self.world.now
        again = (self.cooperative and revoked) or self.topics != self.joined_topics
        self.phase = "out" if again else "stable"
        self.next_at = self.world.now if again else self.world.now + 2_000

    def beaten(self, answer: groups.HeartbeatAnswer) -> None:
        if answer.error is groups.GroupError.REBALANCE_IN_PROGRESS:
            self.phase = "out"
        elif answer.error is None:
            self.last_ok = self.world.now
        else:
            raise Violation(f"{self.name} may not beat: {answer.error}")

    # The leader's part

    def share(self) -> dict[str, bytes]:
        """Evenly; and what someone still has goes to nobody else before it has let go."""
        claims = {m.member_id: said(m.metadata) for m in self.members}
        everything = [
            (name, number)
            for name in sorted({topic for topics, _ in claims.values() for topic in topics})
            if name in self.world.topics
            for number in range(self.world.topics[name].partitions)
        ]
        shares: dict[str, set] = {member_id: set() for member_id in claims}
        for number, which in enumerate(everything):
            readers = [m for m, (topics, _) in claims.items() if which[0] in topics]
            to = readers[number % len(readers)]
            owner = next((m for m, (_, owned) in claims.items() if which in owned), to)
            if owner == to:
                shares[to].add(which)
        return {member_id: assignment(mine) for member_id, mine in shares.items()}


def _identity(request) -> tuple:
    """The same for a request and for another look at it."""
    ticket = getattr(request, "ticket", None)
    generation = getattr(request, "generation", None)
    return type(request), ticket, generation
