"""Groups through deaths: the broker is killed in the middle of a rebalance and comes back, a member
is killed too. Everything that was acknowledged is seen at least once, and commits never go back.

In the bundle there is no broker to kill. There every function dies in the middle of what it does,
and every connection breaks, while the groups of all clients rebalance."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest
from clients.adapters.confluent import Confluent
from clients.client import Record
from clients.group_stories import PARTITIONS as SHARED
from clients.group_stories import Group
from clients.group_watch import Watch
from clients.members import KINDS, Kind, Member, Place
from confluent_kafka import Producer
from server.process import Samsa
from support.broker import Broker
from support.chain import Chain
from support.waiting import eventually

TOPIC, GROUP, PARTITIONS = "letters", "family", 4
SOON, LATER = 30.0, 90.0
PATIENCE = 6.0
SURVIVORS = (
    "confluent",
    "confluent-cooperative",
    "confluent-next",
    "kafka-python",
    "aiokafka",
    "java",
    "java-next",
    "franz-go",
    "franz-go-next",
    "sarama",
    "kafkajs",
)


class Writer:
    """Writes all the time, through outages; knows where each acknowledged record is."""

    def __init__(self, bootstrap: str) -> None:
        self.acknowledged: set[Place] = set()
        self._stop = threading.Event()
        self._producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        number = 0
        while not self._stop.wait(0.02):
            self._producer.produce(
                TOPIC, b"%d" % number, partition=number % PARTITIONS, on_delivery=self._delivered
            )
            self._producer.poll(0)
            number += 1

    def _delivered(self, error: object, message: object) -> None:
        if error is None:
            self.acknowledged.add((message.partition(), message.offset()))

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        assert self._producer.flush(30) == 0, "some records were never acknowledged"


class Commits:
    """Looks at the group's offsets all the time, and takes note of each that goes back."""

    def __init__(self, broker: Callable[[], Broker], group: str, every_s: float = 0.05) -> None:
        self._broker = broker
        self._group = group
        self._every_s = every_s
        self.went_back: list[tuple[object, int, int]] = []
        self.last: dict[tuple[str, int], int] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(0.05):
            # While the broker is away there is nothing to see.
            with suppress(OSError, EOFError, AssertionError):
                self._look()

    def _look(self) -> None:
        watch = Watch(self._broker(), self._group)
        try:
            while not self._stop.wait(self._every_s):
                for where, offset in watch.offsets().items():
                    before = self.last.get(where, 0)
                    if offset < before:
                        self.went_back.append((where, before, offset))
                    self.last[where] = offset
        finally:
            watch.close()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()


@pytest.fixture
def samsa(tmp_path: Path) -> Iterator[Samsa]:
    samsa = Samsa(tmp_path / "samsa")
    yield samsa
    if samsa.process.poll() is None:
        samsa.kill()


def is_shared(samsa: Samsa, members: int) -> bool:
    watch = Watch(samsa.broker, GROUP)
    try:
        return watch.shared_by(members, PARTITIONS)
    finally:
        watch.close()


@pytest.mark.waits
@pytest.mark.parametrize("name", SURVIVORS)
def test_a_group_survives_its_broker_and_a_member(samsa: Samsa, name: str, tmp_path: Path):
    kind: Kind = KINDS[name]
    members: list[Member] = []
    log = tmp_path / "members.log"

    def join() -> None:
        settings = filter(None, (kind.session,))
        members.append(kind.start(samsa.broker.bootstrap, GROUP, TOPIC, log, *settings))

    def seen() -> set[Place]:
        return {place for member in members for place in member.seen}

    Confluent(samsa.broker.bootstrap).create_topic(TOPIC, PARTITIONS, {})
    Confluent(samsa.broker.bootstrap).produce(TOPIC, [Record(None, b"first")], partition=0)
    writer, commits = Writer(samsa.broker.bootstrap), Commits(lambda: samsa.broker, GROUP)
    try:
        join()
        join()
        assert eventually(lambda: is_shared(samsa, 2), SOON)
        join()
        # Not earlier: aiokafka gives up if there is no broker when it starts.
        assert eventually(lambda: not is_shared(samsa, 2), SOON, pause=0.01), "a rebalance begins"
        samsa.kill()
        time.sleep(1.0)
        samsa.again()
        assert eventually(lambda: is_shared(samsa, 3), LATER), log.read_text()[-3000:]
        if not kind.next_generation:  # its sessions are the broker's business, and take 45 seconds
            members[0].kill()
            assert eventually(lambda: is_shared(samsa, 2), LATER), log.read_text()[-3000:]
        writer.stop()
        assert writer.acknowledged
        assert eventually(lambda: writer.acknowledged <= seen(), SOON), (
            sorted(writer.acknowledged - seen())[:9],
            log.read_text()[-3000:],
        )
        for member in members[1:]:
            member.leave()
        time.sleep(0.3)
    finally:
        writer.stop()
        commits.stop()
        for member in members:
            if member.runs:
                member.kill()
    assert commits.last, "nothing was committed"
    assert commits.went_back == []


@pytest.mark.timeout(600)
@pytest.mark.parametrize("broker", ["chain"], indirect=True)
def test_groups_survive_the_functions_their_connections_and_a_member(
    broker: Chain, new_topic: Callable[..., str], tmp_path: Path
):
    with ExitStack() as open_ones:
        groups = [
            open_ones.enter_context(
                closing(Group(broker, new_topic(SHARED), KINDS[name], tmp_path / name, PATIENCE))
            )
            for name in SURVIVORS
        ]
        commits = [Commits(lambda: broker, group.name, every_s=1.0) for group in groups]
        open_ones.callback(lambda: [each.stop() for each in commits])
        for group in groups:
            group.join(1, group.kind.session)
        assert all(group.is_shared(1) and group.has_seen(group.write(2)) for group in groups)
        for group in groups:
            group.join(1, group.kind.session)
        time.sleep(0.4)
        broker.chaos(kill_all=True, drop_all=True)
        assert all(group.is_shared(2) and group.has_seen(group.write(2)) for group in groups)
        classic = [group for group in groups if not group.kind.next_generation]
        for group in classic:
            group.members[0].kill()
        assert all(group.is_shared(1) and group.has_seen(group.write(2)) for group in classic)
        for group in groups:
            assert group.written <= group.seen()
            group.members[1].leave()
        assert all(eventually(lambda each=each: each.last, SOON) for each in commits)
    assert [each.went_back for each in commits] == [[] for _ in commits]
