"""One group, the processes that serve it, and whatever befalls them, all from one seed.

A request reaches some process, which runs one step on the stored group, or takes several that came
together and runs one step for all; a parked answer stays with that process until it is woken, or
its deadline comes, or the process dies. Every step is checked for what must hold of any step: it is
a function, it changes nothing it was given, what it stores can be read back, and whoever need not
wait any longer is woken.
"""

import random
from collections import deque
from dataclasses import dataclass, field
from uuid import UUID

from samsa.groups import (
    ClassicGroup,
    ConsumerHeartbeat,
    GroupSettings,
    Heartbeat,
    Join,
    MemberHeartbeats,
    Packer,
    Parked,
    Sync,
    TopicInfo,
    matches,
    pack,
    steps,
    unpack,
)

SESSION_MS = 10_000
START_MS = 1_000_000_000
LONGEST_WAIT_MS = 5_000
"""Between two looks of a parked request."""
SETTINGS = GroupSettings(
    initial_rebalance_delay_ms=3_000,
    min_session_timeout_ms=6_000,
    new_member_join_timeout_ms=60_000,
    consumer_session_timeout_ms=SESSION_MS,
)


class Violation(Exception):
    """A promise was broken."""


@dataclass
class Waiting:
    """A parked request in the process that parks it."""

    client: "object"
    ask: "object"
    deadline_ms: int
    looks_at: int
    """Whatever the clock says, where that was set back."""
    process: str
    woken: bool = False
    superseded: bool = False
    """The same member has asked elsewhere since: nobody listens here."""


@dataclass
class World:
    seed: int
    now: int = START_MS
    stored: bytes | None = None
    waiting: list[Waiting] = field(default_factory=list)
    processes: list[str] = field(default_factory=lambda: ["p0", "p1", "p2"])
    events: deque = field(default_factory=lambda: deque(maxlen=60))
    answered_ms: dict[str, dict[str, int]] = field(default_factory=dict)
    """Process → members that it answered → when. It forgets all of them when it dies."""
    lives: dict[str, int] = field(default_factory=dict)
    """Process → how often it has died."""
    set_back_by: int = 0
    """How far the clock of all processes is behind: clients do not look at it."""
    taken: int = 0
    """Steps, so far."""
    calm: bool = False
    late: list = field(default_factory=list)
    """Copies of requests that are still under way."""
    crowd: list | None = None
    """Requests that a process has not looked at yet, and will take together."""
    packer: Packer = field(default_factory=Packer)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.rebalance_ms = self.random.choice([5_000, 25_000])
        self.topics = {"t": TopicInfo(UUID(int=1), 3), "u": TopicInfo(UUID(int=2), 2)}
        self.clients: list = []
        self._read, self._group = None, None
        self.wake: frozenset = frozenset()

    # Time and tickets

    def note(self, what: str) -> None:
        self.events.append(f"{self.now - START_MS:>8} {what}")

    @property
    def clock(self) -> int:
        return self.now - self.set_back_by

    def set_back(self) -> None:
        by = self.random.choice([2_000, 20_000, 3_600_000])
        self.set_back_by += by
        self.note(f"the clock is set back by {by}")

    def ticket(self) -> str:
        return f"{self.random.getrandbits(32):08x}"

    @property
    def group(self):
        if self.stored is not self._read:
            self._group, self._read = unpack(self.stored), self.stored
        return self._group

    # Requests

    def send(self, client, request) -> None:
        """What may go wrong on the way, does."""
        fate = "" if self.calm else self.random.choice(["", "", "", "", "lost", "deaf", "twice"])
        process = self.random.choice(self.processes)
        if hasattr(request, "waiter"):
            request = request._replace(waiter=process)
        self.note(f"{client.name} → {process} {fate} {brief(request)}")
        if isinstance(request, Sync | Heartbeat) and self.random.random() < 0.1:
            self.late.append(request)
        if fate == "lost":
            client.unanswered()
        elif self.crowd is not None:
            self.crowd.append((client, request, process, fate))
        else:
            answer = self.step(request, process)
            if fate == "twice":
                second = self.step(request, process)
                # What changed is told once: a repeated heartbeat must not take the first answer.
                answer = answer if client.kind == "consumer" else second
            self.answer(client, answer, process, fate)

    def take_together(self) -> None:
        """All that has come since there is a crowd, in one step."""
        crowd, self.crowd = self.crowd, None
        if crowd:
            self.note(f"together: {[brief(request) for _, request, *_ in crowd]}")
            answers = self.steps([request for _, request, *_ in crowd], crowd[0][2])
            wake = self.wake
            for (client, _, process, fate), answer in zip(crowd, answers, strict=True):
                self.answer(client, answer, process, fate)
            # They listened from the start, and one may have been parked and freed in this step.
            for waiting in self.waiting:
                waiting.woken |= waiting.process in wake

    def answer(self, client, answer, process: str, fate: str) -> None:
        if fate == "look":
            self.looked(client, answer)
        elif isinstance(answer, Parked):
            self.park(client, answer, process)
            if fate == "deaf":
                client.unanswered()
        elif fate == "deaf":
            client.unanswered()
        else:
            client.hear(answer)

    def deliver_late(self) -> None:
        """A copy arrives after all, and nobody hears the answer."""
        if self.late and self.random.random() < 0.1:
            request = self.late.pop(self.random.randrange(len(self.late)))
            self.note(f"late: {brief(request)}")
            self.step(request, self.processes[0])

    def park(self, client, answer: Parked, process: str) -> None:
        if answer.deadline_ms <= self.clock:
            raise Violation(f"{client.name} is parked until {answer.deadline_ms}, which is over")
        if answer.deadline_ms > self.clock + 2 * SETTINGS.new_member_join_timeout_ms:
            raise Violation(f"{client.name} is parked without an end")
        looks_at = self.now + LONGEST_WAIT_MS
        self.waiting.append(Waiting(client, answer.ask, answer.deadline_ms, looks_at, process))

    def heartbeats(self, process: str) -> MemberHeartbeats:
        """As a process has it that knows its own clock only."""
        answered = self.answered_ms.setdefault(process, {})
        for member_id, when in answered.items():
            answered[member_id] = min(when, self.clock)
        # In a third of all worlds no process may rely on what it answered, as in a function.
        return MemberHeartbeats(
            f"{process}/{self.lives.get(process, 0)}" if self.seed % 3 else "", answered
        )

    def step(self, request, process: str):
        (answer,) = self.steps([request], process)
        return answer

    def steps(self, requests, process: str) -> list:
        before, heartbeats = self.group, self.heartbeats(process)
        self.taken += 1
        done = steps(before, requests, self.clock, SETTINGS, heartbeats)
        if done != steps(self.group, requests, self.clock, SETTINGS, heartbeats):
            raise Violation("a step is not a function of what it is given")
        if before is not None and pack(before) != self.stored:
            raise Violation("a step changed the group that it was given")
        if _number(done.group) < _number(before):
            raise Violation("a generation came before the one before it")
        for request, answer in zip(requests, done.answers, strict=True):
            if isinstance(request, Heartbeat | ConsumerHeartbeat) and not answer.error:
                self.answered_ms[process][request.member_id] = self.clock
        if done.group is not before:
            self.stored = pack(done.group)
            if unpack(self.stored) != done.group:
                raise Violation("what was stored reads differently")
            if self.packer.pack(done.group) != self.stored:
                raise Violation("what was packed of earlier states is not what is packed anew")
        self.wake = done.wake
        for waiting in self.waiting:
            waiting.woken |= waiting.process in done.wake
        self.check_woken(requests)
        return done.answers

    def check_woken(self, requests) -> None:
        group = self.group
        members = group.members if isinstance(group, ClassicGroup) else {}
        for waiting in self.waiting:
            member_id = waiting.ask.member_id or f"{waiting.client.label}-{waiting.ask.ticket}"
            member = members.get(member_id)
            if member and member.is_parked:
                waiting.superseded |= self.is_superseded(waiting, member)
            asks = any(waiting.ask is request for request in requests)
            waiting.superseded |= self.is_followed(waiting, requests)
            if waiting.woken or asks or waiting.superseded:
                continue
            if member is None or not member.is_parked:
                raise Violation(f"{waiting.client.name} waits, need not, and was not woken")

    def is_superseded(self, waiting: Waiting, member) -> bool:
        ticket = getattr(waiting.ask, "ticket", None)
        return member.waiter != waiting.process or ticket not in (None, member.ticket)

    def is_followed(self, waiting: Waiting, requests) -> bool:
        """Its client asks anew, in a crowd: what became of its last question is not seen alone."""
        return len(requests) > 1 and any(
            request is not waiting.ask and request.member_id == waiting.ask.member_id
            for request in requests
            if isinstance(request, Join | Sync)
        )

    # Processes

    def look_again(self, waiting: Waiting) -> None:
        """Someone woke the process, or the time is up."""
        self.waiting.remove(waiting)
        self.looked(waiting, self.step(waiting.ask, waiting.process))

    def looked(self, waiting: Waiting, answer) -> None:
        if isinstance(answer, Parked):
            self.park(waiting.client, answer, waiting.process)
        elif waiting.client.waits_for(waiting.ask):
            waiting.client.hear(answer)

    def look_together(self) -> None:
        """Who was woken is part of the crowd."""
        for waiting in [each for each in self.waiting if each.woken]:
            self.waiting.remove(waiting)
            self.crowd.insert(
                self.random.randint(0, len(self.crowd)),
                (waiting, waiting.ask, waiting.process, "look"),
            )

    def serve(self) -> None:
        """Look again wherever that is due. A wake-up may get lost, but not a deadline."""
        for waiting in list(self.waiting):
            if waiting not in self.waiting:
                continue
            heard = waiting.woken and (self.calm or self.random.random() < 0.7)
            looks = self.set_back_by and waiting.looks_at <= self.now
            if heard or waiting.deadline_ms <= self.clock or looks:
                self.note(f"{waiting.process} looks again for {waiting.client.name}")
                self.look_again(waiting)

    def kill(self, process: str) -> None:
        self.note(f"{process} dies")
        self.lives[process] = self.lives.get(process, 0) + 1
        self.answered_ms.pop(process, None)
        for waiting in [each for each in self.waiting if each.process == process]:
            self.waiting.remove(waiting)
            if waiting.client.waits_for(waiting.ask):
                waiting.client.unanswered()

    # Topics

    def change_topics(self) -> None:
        name = self.random.choice(["t", "u", "tt"])
        info = self.topics.get(name)
        if info is None:
            fresh = UUID(int=self.random.getrandbits(64))
            self.topics = {**self.topics, name: TopicInfo(fresh, 2)}
        elif name == "tt":
            self.topics = {each: i for each, i in self.topics.items() if each != name}
        elif info.partitions < 6:
            self.topics = {**self.topics, name: info._replace(partitions=info.partitions + 1)}
        self.note(f"topics: { {name: i.partitions for name, i in self.topics.items()} }")

    def resolve(self, patterns) -> dict:
        return {pattern: matches(pattern, self.topics) for pattern in patterns}


def _number(group) -> int:
    if group is None:
        return 0
    return group.generation if isinstance(group, ClassicGroup) else group.epoch


def brief(request) -> str:
    fields = {
        name: value
        for name, value in request._asdict().items()
        if name in ("member_id", "instance_id", "generation", "epoch", "owned", "ticket", "again")
        and value not in (None, False)
    }
    return f"{type(request).__name__} {fields}"
