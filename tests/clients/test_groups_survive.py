"""Groups through deaths: the broker is killed in the middle of a rebalance and comes back, a member
is killed too. Everything that was acknowledged is seen at least once, and commits never go back."""

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from clients.adapters.confluent import Confluent
from clients.client import Record
from clients.group_watch import Watch
from clients.members import KINDS, Kind, Member, Place
from confluent_kafka import Producer
from server.process import Samsa
from support.waiting import eventually

TOPIC, GROUP, PARTITIONS = "letters", "family", 4
SOON, LATER = 30.0, 90.0
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

    def __init__(self, samsa: Samsa) -> None:
        self._samsa = samsa
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
        watch = Watch(self._samsa.broker, GROUP)
        try:
            while not self._stop.wait(0.05):
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
    writer, commits = Writer(samsa.broker.bootstrap), Commits(samsa)
    try:
        join()
        join()
        assert eventually(lambda: is_shared(samsa, 2), SOON)
        join()
        time.sleep(0.4)
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
