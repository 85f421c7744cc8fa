"""A group of one kind of member, and what happens to it: the stories that tests tell of each."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import NoReturn

from clients.adapters.confluent import Confluent
from clients.client import Record
from clients.group_watch import Watch
from clients.members import Kind, Member, Place
from support.broker import Broker
from support.waiting import eventually

PARTITIONS = 6
SOON, LATER = 20.0, 45.0


class Group:
    """A topic with a group that reads it; members are of one kind."""

    def __init__(
        self, broker: Broker, topic: str, kind: Kind, log: Path, patience: float = 1.0
    ) -> None:
        self.broker = broker
        self.topic = topic
        self.name = f"group-of-{topic}"
        self.kind = kind
        self.log = log
        self.patience = patience
        """How many times longer than usual things may take."""
        self.members: list[Member] = []
        self.watch = Watch(broker, self.name)
        self.written: set[Place] = set()
        self._values = count()

    def join(self, members: int = 1, *settings: str) -> list[Member]:
        joined = [
            self.kind.start(
                self.broker.bootstrap, self.name, self.topic, self.log, *filter(None, settings)
            )
            for _ in range(members)
        ]
        self.members += joined
        return joined

    def write(self, each: int) -> set[Place]:
        """So many records in every partition; where they are."""
        producer = Confluent(self.broker.bootstrap)
        places = set()
        for partition in range(PARTITIONS):
            records = [Record(None, b"%d" % next(self._values)) for _ in range(each)]
            offsets = producer.produce(self.topic, records, partition=partition)
            places |= {(partition, offset) for offset in offsets}
        self.written |= places
        return places

    def seen(self) -> set[Place]:
        return {place for member in self.members for place in member.seen}

    def is_shared(self, members: int, within: float = SOON) -> bool:
        return self._eventually(lambda: self.watch.shared_by(members, PARTITIONS), within)

    def has_seen(self, places: set[Place], within: float = SOON) -> bool:
        return self._eventually(lambda: places <= self.seen(), within)

    def _eventually(self, ask: Callable[[], bool], within: float) -> bool:
        # Who looks all the time takes the machine from those who are looked at.
        return eventually(ask, within * self.patience, 0.1 * self.patience) or self._fail()

    def _fail(self) -> NoReturn:
        state, said = self.watch.state(), self.log.read_text()[-2000:]
        seen = [len(member.seen) for member in self.members]
        raise AssertionError(
            f"the group is {state}; its members saw {seen} records and said:\n{said}"
        )

    def close(self) -> None:
        for member in self.members:
            if member.runs:
                member.kill()
        self.watch.close()


def one_reads_everything_and_the_next_goes_on(group: Group) -> None:
    first = group.write(5)
    (member,) = group.join()
    assert group.has_seen(first)
    member.leave()
    assert sorted(member.seen) == sorted(first)
    assert {p: offset for (_, p), offset in group.watch.offsets().items()} == dict.fromkeys(
        range(PARTITIONS), 5
    )
    second = group.write(2)
    (follower,) = group.join()
    assert group.has_seen(second)
    follower.leave()
    assert sorted(follower.seen) == sorted(second)


def members_share_and_take_over(group: Group) -> None:
    first, *_ = group.join(3)
    assert group.is_shared(3)
    assert group.has_seen(group.write(3))
    everything = [place for member in group.members for place in member.seen]
    assert len(everything) == len(set(everything)), "a record was read twice"
    assert all(member.seen for member in group.members)
    first.leave()
    assert group.is_shared(2)
    assert group.has_seen(group.write(3))


def a_killed_member_is_replaced(group: Group) -> None:
    group.join(2, group.kind.session)
    assert group.is_shared(2)
    assert group.has_seen(group.write(2))
    group.members[0].kill()
    written = group.write(3)
    assert group.is_shared(1, LATER)
    assert group.has_seen(written)
    assert set(group.members[1].seen) >= written
    assert group.seen() == group.written
