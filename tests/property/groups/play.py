"""One schedule, from its seed to its end: a storm, a calm, and what must be true in each."""

from typing import NamedTuple

from property.groups.classic_client import ClassicClient
from property.groups.consumer_client import ConsumerClient
from property.groups.shape import check_shape
from property.groups.world import Violation, World

from samsa.groups import may_commit, state_of

STORM = 150
CALM_MS = 240_000
TICK_MS = 500
STEPS = 6_000


class Finished(NamedTuple):
    seed: int
    violation: str | None
    events: list[str]

    def story(self) -> str:
        return "\n".join([f"seed {self.seed}: {self.violation}", *self.events])


def run(seed: int, kinds: str) -> Finished:
    """`kinds`: classic, consumer, or mixed. The same seed gives the same events."""
    play = Play(seed, kinds)
    try:
        play.storm()
        play.calm()
    except Violation as error:
        return Finished(seed, str(error), list(play.world.events))
    return Finished(seed, None, list(play.world.events))


class Play:
    def __init__(self, seed: int, kinds: str) -> None:
        self.world = World(seed)
        self.world.every_topic = dict(self.world.topics)
        self.world.tell = self.tell
        self.random = self.world.random
        self.kinds = kinds
        self.cooperative = self.random.random() < 0.5
        self.assignor = self.random.choice([None, "range", "uniform"])
        self.made = 0
        self.told: dict = {}

    @property
    def clients(self) -> list:
        return [client for client in self.world.clients if client.alive]

    # The storm

    def storm(self) -> None:
        chances = {
            self.enter: 2 if len(self.clients) < 5 else 0,
            self.act: 60,
            self.act_together: 20 if self.world.seed % 2 else 0,
            self.pass_time: 25,
            self.sleep: 1,
            self.crash: 1,
            self.leave: 1,
            self.restart: 1,
            self.lose_patience: 2,
            self.kill_process: 1,
            self.world.set_back: 1 if self.world.seed % 4 == 3 else 0,
            self.change_topics: 3 if self.kinds == "consumer" else 0,
            self.resubscribe: 1,
            self.turn_stubborn: 1 if self.kinds == "consumer" else 0,
        }
        actions = list(chances)
        for _ in range(STORM):
            chances[self.enter] = 4 if len(self.clients) < 5 else 0
            (action,) = self.random.choices(actions, [chances[each] for each in actions])
            action()
            self.world.serve()
            self.world.deliver_late()
            self.check()

    def enter(self, instance_id=None) -> None:
        self.made += 1
        name = f"c{self.made}"
        if instance_id is None and self.random.random() < 0.3:
            instance_id = f"i{self.made}"
        self.world.note(f"{name} comes, instance {instance_id}")
        kind = self.kinds if self.kinds != "mixed" else self.random.choice(["classic", "consumer"])
        if kind == "classic":
            client = ClassicClient(
                self.world, name, instance_id, self.cooperative, self.random.random() < 0.8
            )
        else:
            pattern = "t.*|u" if self.kinds == "consumer" and self.random.random() < 0.3 else ""
            client = ConsumerClient(self.world, name, instance_id, self.assignor, pattern)
        self.world.clients.append(client)

    def act(self) -> None:
        if self.clients:
            self.random.choice(self.clients).act()

    def act_together(self) -> None:
        """As many as there are, or some, in any order; those who were woken may be among them."""
        self.world.crowd = []
        for client in self.random.sample(self.clients, self.random.randint(0, len(self.clients))):
            client.act()
        self.world.look_together()
        self.world.take_together()

    def pass_time(self) -> None:
        self.world.now += self.random.choice([1, 10, 100, 1_000, 3_000])

    def sleep(self) -> None:
        self.world.now += self.random.choice([8_000, 15_000, 70_000])
        self.world.note("time jumps")

    def crash(self) -> None:
        if self.clients:
            client = self.random.choice(self.clients)
            self.world.note(f"{client.name} crashes")
            client.alive = False

    def leave(self) -> None:
        if self.clients:
            self.random.choice(self.clients).leave()

    def restart(self) -> None:
        """A static member crashes or goes, and comes back."""
        static = [client for client in self.clients if client.instance_id]
        if static:
            client = self.random.choice(static)
            if client.kind == "consumer" and self.random.random() < 0.7:
                client.leave(for_a_while=True)
            client.alive = False
            self.enter(client.instance_id)

    def lose_patience(self) -> None:
        if self.clients:
            self.random.choice(self.clients).give_up()

    def kill_process(self) -> None:
        self.world.kill(self.random.choice(self.world.processes))

    def change_topics(self) -> None:
        self.world.change_topics()
        self.world.every_topic |= {
            f"{name}/{info.id.int}": info for name, info in self.world.topics.items()
        }

    def resubscribe(self) -> None:
        if self.clients:
            client = self.random.choice(self.clients)
            if client.topics:
                client.subscribe(self.random.choice([("t",), ("t", "u")]))

    def turn_stubborn(self) -> None:
        """It never lets go again, though it beats."""
        if self.clients:
            self.random.choice(self.clients).stubborn = True

    # The calm

    def calm(self) -> None:
        """Whoever is there behaves: the group becomes stable, and again after one has died."""
        self.world.calm = True
        self.world.note("the sky clears")
        for client in self.clients:
            client.stubborn = False
        if not self.clients:
            self.enter()
        self.settle()
        if len(self.clients) > 1:
            if self.world.seed % 2:
                self.world.set_back()
            self.crash()
            self.settle()

    def settle(self) -> None:
        end = self.world.now + CALM_MS
        most = self.world.taken + STEPS
        quiet = 0
        while quiet < 40:
            quiet = quiet + 1 if self.is_settled() else 0
            if self.world.now > end or self.world.taken > most:
                raise Violation(f"the group does not become stable: {self.why_unsettled()}")
            self.tick()
        self.check_all_is_read()

    def tick(self) -> None:
        self.world.now += TICK_MS
        for client in self.clients:
            if client.next_at <= self.world.now:
                client.act()
            self.world.serve()
            self.check()

    def is_settled(self) -> bool:
        group = self.world.group
        return (
            group is not None
            and state_of(group) == "Stable"
            and all(client.is_settled for client in self.clients)
            and len(group.members) == len(self.clients)
        )

    def why_unsettled(self) -> str:
        group = self.world.group
        state = group and (state_of(group), sorted(group.members))
        return f"{state} {[(c.name, c.member_id, c.is_settled) for c in self.clients]}"

    def check_all_is_read(self) -> None:
        wanted = {
            (name, number)
            for client in self.clients
            for name in (client.topics or self.world.topics)
            if name in self.world.topics
            for number in range(self.world.topics[name].partitions)
        }
        read = [self.current(which) for client in self.clients for which in client.believes()]
        if sorted(read) != sorted(wanted):
            raise Violation(f"{sorted(wanted)} should be read, and {sorted(read)} are")

    def current(self, which):
        return which[0].split("/")[0], which[1]

    # What must hold at any time

    def check(self) -> None:
        check_shape(self.world.group, self.world.clock, self.world.rebalance_ms)
        owners: dict = {}
        for client in self.clients:
            for which in client.believes():
                other = owners.setdefault(which, client)
                if other is not client:
                    raise Violation(f"{other.name} and {client.name} both read {which}")
        self.check_commits()

    def check_commits(self) -> None:
        """Of all who ever took a partition for theirs, one at most may commit."""
        group = self.world.group
        allowed: dict = {}
        for client in self.world.clients:
            member_id, instance_id, generation = client.commits_as()
            if not client.owned or generation < 0:
                continue
            if may_commit(group, member_id, instance_id, generation, self.world.clock) is None:
                for which in client.claims():
                    other = allowed.setdefault(which, client)
                    if other is not client:
                        raise Violation(f"{other.name} and {client.name} may commit {which}")

    def tell(self, client, generation, which) -> None:
        if self.kinds != "classic":
            return
        owner = self.told.setdefault((generation, which), client.label)
        if owner != client.label:
            raise Violation(f"{which} of generation {generation}: {owner} and {client.label}")
