"""What passes through the function, counted inside of it: API, time, bytes, reads of the bucket."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import Consumer
from server.peer import Peer
from server.talk import FETCH, PRODUCE, batch, fetch_row, produce_row, records_in
from support.broker import Broker
from support.chain import Chain, a_chain
from support.waiting import eventually

from samsa.wire.apis import ApiKey
from samsa.wire.messages import create_topics

COUNTED = Path(__file__).parent / "counted"
TOPIC, GROUP, MEMBERS = "letters", "family", 10
IDLE_S = 60
LONGEST_MS = 1_000
MB = 1_000_000
SECONDS = 60.0


class Call(NamedTuple):
    api: int
    ms: float
    heard: int
    said: int
    gets: int


class Counts:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._read = 0

    def new(self) -> list[Call]:
        """What the function did since the last time that this was asked."""
        lines = self._file.read_text().splitlines()
        found = [Call(**json.loads(line)) for line in lines[self._read :]]
        self._read = len(lines)
        return found


@pytest.fixture
def counts(tmp_path: Path) -> Counts:
    file = tmp_path / "counts"
    file.touch()
    return Counts(file)


@pytest.fixture
def chain(environment: dict[str, str], counts: Counts, tmp_path: Path) -> Iterator[Chain]:
    told = {**environment, "SAMSA_TEST_COUNTS": str(tmp_path / "counts")}
    with a_chain(tmp_path, told, "--functions", str(COUNTED)) as running:
        yield running


def create(chain: Chain, partitions: int) -> None:
    asked = create_topics.TOPIC(name=TOPIC, num_partitions=partitions, replication_factor=-1)
    asked.configs = [create_topics.CONFIG(name="max.message.bytes", value=str(2 * MB))]
    with Peer(chain.address) as peer:
        answer = peer.ask(ApiKey.CREATE_TOPICS, 7, create_topics.REQUEST(topics=[asked]))
    assert answer.topics[0].error_code == 0, answer


def write(peer: Peer, value: bytes, partition: int = 0) -> None:
    answer = peer.ask(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(value), partition))
    assert answer.responses[0].partition_responses[0].error_code == 0, answer


class Member:
    """A consumer with librdkafka's defaults, but that it waits longer than a function may run."""

    def __init__(self, broker: Broker) -> None:
        self.seen: list[bytes] = []
        self.holds: set[int] = set()
        self._stop = threading.Event()
        self._consumer = Consumer(
            {
                "bootstrap.servers": broker.bootstrap,
                "group.id": GROUP,
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 5 * LONGEST_MS,
                "api.version.request.timeout.ms": 60_000,
            }
        )
        self._consumer.subscribe([TOPIC])
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            message = self._consumer.poll(0.1)
            if message is not None and message.error() is None:
                self.seen.append(message.value())
            self.holds = {place.partition for place in self._consumer.assignment()}
        self._consumer.close()

    def stop(self) -> None:
        self._stop.set()

    def join(self) -> None:
        self._thread.join()


@contextmanager
def a_group(chain: Chain) -> Iterator[list[Member]]:
    members = [Member(chain) for _ in range(MEMBERS)]
    try:
        yield members
    finally:
        for member in members:
            member.stop()
        for member in members:
            member.join()


def quiet(counts: Counts) -> bool:
    """Whether nobody has fetched for a while: everybody has asked once and is parked."""
    counts.new()
    threading.Event().wait(2)
    return not fetches(counts.new())


def fetches(calls: list[Call]) -> list[Call]:
    return [call for call in calls if call.api == ApiKey.FETCH]


@pytest.mark.waits
def test_an_idle_group_of_ten_sends_no_fetch_and_holds_no_function_for_a_minute(
    chain: Chain, counts: Counts
):
    create(chain, MEMBERS)
    with a_group(chain) as members:
        assert eventually(lambda: [len(m.holds) for m in members] == [1] * MEMBERS, SECONDS)
        assert eventually(lambda: quiet(counts), SECONDS)
        before = chain.stats()
        counts.new()
        threading.Event().wait(IDLE_S)
        after, idle = chain.stats(), counts.new()
        assert fetches(idle) == []
        # They live: what comes is their heartbeats, one in three seconds from each.
        beats = [call for call in idle if call.api == ApiKey.HEARTBEAT]
        assert len(beats) >= MEMBERS * IDLE_S / 3 / 2
        assert len(idle) - len(beats) <= MEMBERS
        assert after["messages_in"] - before["messages_in"] <= len(idle) + MEMBERS
        assert max(call.ms for call in idle) < LONGEST_MS
        # And what they wait for still comes to them.
        with Peer(chain.address) as peer:
            for partition in range(MEMBERS):
                write(peer, b"%d" % partition, partition)
        assert eventually(lambda: all(member.seen for member in members), SECONDS)
        assert sorted(v for m in members for v in m.seen) == [b"%d" % n for n in range(MEMBERS)]


def test_fifty_megabytes_are_fetched_and_pass_by_the_function(chain: Chain, counts: Counts):
    create(chain, 1)
    values = [bytes([number]) * MB for number in range(50)]
    with Peer(chain.address) as peer:
        for value in values:
            write(peer, value)
        written = counts.new()
        # Requests of a megabyte pass by API Gateway: the function is told where they are.
        assert max(call.heard for call in written) < 2_000
        row = fetch_row(TOPIC, 0, max_bytes=60 * MB)
        row.max_bytes = 60 * MB
        answer = peer.ask(ApiKey.FETCH, FETCH, row)
    records = answer.responses[0].partitions[0].records
    assert [record.value for record in records_in(records)] == values
    (fetched,) = fetches(counts.new())
    assert fetched.gets == 0
    assert fetched.said < 128 * 1024
