"""Consumer groups by each client, on its defaults and in each of its ways to share partitions."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import NoReturn

import pytest
from clients.adapters.confluent import Confluent
from clients.client import Record
from clients.group_watch import Watch
from clients.members import KINDS, Kind, Member, Place
from clients.samples import SAMPLES
from support.broker import Broker
from support.waiting import eventually

PARTITIONS = 6
SOON, LATER = 20.0, 45.0
CLASSIC = [name for name, kind in KINDS.items() if not kind.next_generation]


class Group:
    """A topic with a group that reads it; members are of one kind."""

    def __init__(self, broker: Broker, topic: str, kind: Kind, log: Path) -> None:
        self.broker = broker
        self.topic = topic
        self.name = f"group-of-{topic}"
        self.kind = kind
        self.log = log
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
        return eventually(ask, within) or self._fail()

    def _fail(self) -> NoReturn:
        state, said = self.watch.state(), self.log.read_text()[-2000:]
        seen = [len(member.seen) for member in self.members]
        pytest.fail(f"the group is {state}; its members saw {seen} records and said:\n{said}")

    def end(self) -> None:
        for member in self.members:
            if member.runs:
                member.kill()
        self.watch.close()


@pytest.fixture
def group(
    broker: Broker, new_topic: Callable[..., str], name: str, tmp_path: Path
) -> Iterator[Group]:
    group = Group(broker, new_topic(PARTITIONS), KINDS[name], tmp_path / "members.log")
    yield group
    group.end()


@pytest.mark.parametrize("name", KINDS)
def test_a_member_reads_everything_and_the_next_goes_on_from_there(group: Group):
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


@pytest.mark.parametrize("name", KINDS)
def test_members_share_the_partitions_and_take_over_from_who_leaves(group: Group):
    first, *_ = group.join(3)
    assert group.is_shared(3)
    assert group.has_seen(group.write(3))
    everything = [place for member in group.members for place in member.seen]
    assert len(everything) == len(set(everything)), "a record was read twice"
    assert all(member.seen for member in group.members)
    first.leave()
    assert group.is_shared(2)
    assert group.has_seen(group.write(3))


@pytest.mark.parametrize("name", CLASSIC)
def test_a_killed_members_partitions_are_read_by_the_others(group: Group):
    group.join(2, group.kind.session)
    assert group.is_shared(2)
    assert group.has_seen(group.write(2))
    group.members[0].kill()
    written = group.write(3)
    assert group.is_shared(1, LATER)
    assert group.has_seen(written)
    assert set(group.members[1].seen) >= written
    assert group.seen() == group.written


@pytest.mark.parametrize(
    ("name", "next_name"),
    [("confluent-cooperative", "confluent-next"), ("java-cooperative", "java-next")],
)
def test_a_group_moves_between_the_protocols_while_it_reads(group: Group, next_name: str):
    (old,) = group.join()
    assert group.is_shared(1)
    group.kind = KINDS[next_name]
    (new,) = group.join()
    assert group.is_shared(2)
    assert group.has_seen(group.write(2))
    old.leave()
    assert group.is_shared(1)
    assert group.has_seen(group.write(2))
    group.kind = KINDS[name_of_old(next_name)]
    group.join()
    assert group.is_shared(2)
    new.leave()
    assert group.is_shared(1)
    assert group.has_seen(group.write(2))


def name_of_old(next_name: str) -> str:
    return next_name.replace("next", "cooperative")


def test_the_consumer_of_kafkajs_reads_in_a_group(clients, new_topic, new_name):
    topic = new_topic()
    clients["kafkajs"].produce(topic, SAMPLES, partition=0)
    found = clients["kafkajs"].consume_in_group(topic, new_name(), len(SAMPLES))
    assert [record.content for record in found] == [record.content for record in SAMPLES]
