"""A client of the consumer protocol (KIP-848), as real ones behave."""

from property.groups.world import SESSION_MS, Violation

from samsa.groups import ConsumerHeartbeat, GroupError, patterns_of

FENCED = {
    GroupError.UNKNOWN_MEMBER_ID,
    GroupError.FENCED_MEMBER_EPOCH,
    GroupError.GROUP_ID_NOT_FOUND,
}


class ConsumerClient:
    kind = "consumer"

    def __init__(self, world, name, instance_id=None, assignor=None, pattern=""):
        self.world = world
        self.name = name
        self.label = instance_id or name
        self.instance_id = instance_id
        self.assignor = assignor
        self.pattern = pattern
        self.topics = () if pattern else ("t", "u")
        self.member_id = world.ticket()
        self.epoch = 0
        self.owned: frozenset = frozenset()
        self.target: frozenset = frozenset()
        self.confirmed: dict = {}
        """Partition → when it was last told, or not told otherwise, that this is its own."""
        self.reported: frozenset | None = None
        self.kept: frozenset = frozenset()
        """What it has let go of counts until an answer shows that the coordinator knows."""
        self.whole = True
        self.stubborn = False
        self.asked = None
        self.last_ok = 0
        self.next_at = 0
        self.alive = True

    # What it believes

    def believes(self) -> set:
        """Nothing, once its session is over, or once it has kept too long what it should have let
        go of: it knows that it is fenced then."""
        kept = self.owned | self.kept
        oldest = min((self.confirmed[which] for which in kept), default=self.last_ok)
        ends = min(self.last_ok + SESSION_MS, oldest + self.world.rebalance_ms)
        if not self.alive or self.world.now >= ends:
            return set()
        return self.claims()

    def claims(self) -> set:
        names = {info.id: name for name, info in self.world.every_topic.items()}
        return {(names[topic], number) for topic, number in self.owned}

    def commits_as(self) -> tuple:
        return self.member_id, self.instance_id, self.epoch

    @property
    def is_settled(self) -> bool:
        return self.epoch > 0 and self.owned == self.target

    # What it does

    def act(self) -> None:
        if not self.stubborn:
            self.owned = self.target
        self.next_at = self.world.now + 2_000
        joins = self.epoch == 0
        everything = joins or self.whole
        request = ConsumerHeartbeat(
            self.member_id,
            self.epoch,
            self.instance_id,
            rebalance_timeout_ms=self.world.rebalance_ms if everything else -1,
            topics=self.topics if everything else None,
            pattern=self.pattern if everything else None,
            assignor=self.assignor if everything else None,
            owned=self.owned if everything or self.owned != self.reported else None,
        )
        self.reported = self.owned
        self.ask(request)

    def leave(self, for_a_while=False) -> None:
        self.alive = False
        epoch = -2 if for_a_while and self.instance_id else -1
        self.ask(ConsumerHeartbeat(self.member_id, epoch, self.instance_id))

    def ask(self, request) -> None:
        patterns = patterns_of(self.world.group, request)
        request = request._replace(known=self.world.topics, matches=self.world.resolve(patterns))
        self.asked = request
        self.world.send(self, request)

    def give_up(self) -> None:
        self.unanswered()

    def subscribe(self, topics) -> None:
        self.topics = topics
        self.whole = True

    def unanswered(self) -> None:
        self.asked = None
        self.whole = True

    def waits_for(self, ask) -> bool:
        return False

    # What it hears

    def hear(self, answer) -> None:
        self.asked = None
        if not self.alive:
            return
        self.world.note(
            f"{self.name} ← {answer.error} epoch {answer.epoch} {_numbers(answer.assignment)}"
        )
        if answer.error in FENCED:
            self.epoch = 0
            self.owned = self.target = self.kept = frozenset()
            self.whole = True
        elif answer.error is GroupError.UNRELEASED_INSTANCE_ID:
            pass
        elif answer.error is GroupError.FENCED_INSTANCE_ID:
            self.alive = False
        elif answer.error:
            raise Violation(f"{self.name} is refused: {answer.error}")
        else:
            self.go_on(answer)

    def go_on(self, answer) -> None:
        self.whole = False
        self.epoch = answer.epoch
        self.last_ok = self.world.now
        if answer.assignment is not None:
            self.target = answer.assignment
            if self.owned != self.target:
                self.next_at = self.world.now
        for which in self.target:
            self.confirmed[which] = self.world.now
        self.owned |= self.target
        self.kept = self.owned
        names = {info.id: name for name, info in self.world.every_topic.items()}
        for topic, number in self.target:
            self.world.tell(self, self.epoch, (names[topic], number))


def _numbers(partitions) -> list | None:
    return partitions and sorted((topic.int, number) for topic, number in partitions)
