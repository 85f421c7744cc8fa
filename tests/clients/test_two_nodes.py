"""Real clients and two processes on DynamoDB and S3: they go where they are told, or elsewhere."""

import subprocess
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from clients.adapters.confluent import Confluent
from clients.client import Record
from clients.registry import Clients
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from kafka import KafkaConsumer, KafkaProducer
from server.process import Samsa
from support.kafka import kafka_java
from support.stores import BUCKET
from support.waiting import eventually

from samsa_broker.server.roster import RENEW_S, TTL_S

PARTITIONS = 12
EACH = 20
ALL = PARTITIONS * EACH
CONSOLE = "org.apache.kafka.tools.consumer.ConsoleConsumer"


class Pair:
    """Two processes in two zones, which a test may kill and start again."""

    def __init__(self, stores: tuple[str, str], folder: Path, stack: ExitStack) -> None:
        name = f"nodes-{uuid4()}"
        dynamodb, s3 = stores
        self._options = (
            f"--ledger=dynamodb://{name}?endpoint={dynamodb}&region=us-east-1",
            f"--objects=s3://{BUCKET}/{name}?endpoint={s3}&region=us-east-1",
            "--metrics-port=0",
            f"--default-partitions={PARTITIONS}",
        )
        self._folder = folder
        self._stack = stack
        self.samsas: list[Samsa] = []

    def add(self) -> Samsa:
        number = len(self.samsas)
        zone = f"--zone={'ab'[number]}"
        self.samsas.append(Samsa(self._folder / str(number), *self._options, zone))
        self._stack.callback(self._end, number)
        return self.samsas[-1]

    def _end(self, number: int) -> None:
        samsa = self.samsas[number]
        if samsa.process.poll() is None:
            assert samsa.stop() == 0, samsa.said()
        assert "Traceback" not in samsa.said()

    @property
    def bootstrap(self) -> str:
        return self.samsas[0].broker.bootstrap

    def requests(self, api: str) -> list[int]:
        """That each process has had since it was started."""
        name = f'samsa_requests_total{{api="{api}"}}'
        return [int(samsa.metrics().get(name, 0)) for samsa in self.samsas]

    def sees(self, count: int) -> bool:
        return all(
            samsa.metrics()["samsa_nodes"] == count
            for samsa in self.samsas
            if samsa.process.poll() is None
        )


@pytest.fixture
def pair(stores: tuple[str, str], tmp_path: Path) -> Iterator[Pair]:
    with ExitStack() as stack:
        made = Pair(stores, tmp_path, stack)
        made.add()
        made.add()
        assert eventually(lambda: made.sees(2), 2 * RENEW_S)
        yield made


def leaders(bootstrap: str, topic: str) -> dict[int, int]:
    found = AdminClient({"bootstrap.servers": bootstrap}).list_topics(topic, timeout=20)
    return {number: each.leader for number, each in found.topics[topic].partitions.items()}


def a_topic(pair: Pair) -> str:
    """One that both nodes lead some partitions of."""
    for number in range(20):
        topic = f"letters-{number}"
        Confluent(pair.bootstrap).create_topic(topic, PARTITIONS, {})
        assert eventually(lambda topic=topic: leaders(pair.bootstrap, topic))
        shares = Counter(leaders(pair.bootstrap, topic).values())
        if min(shares[0], shares[1]) >= 3:
            return topic
    raise AssertionError("one node leads nearly everything")


@pytest.mark.parametrize("name", ["confluent", "kafka-python", "aiokafka", "java", "franz-go"])
def test_a_clients_appends_and_reads_go_to_the_leader_of_each_partition(
    pair: Pair, name: str, tmp_path: Path
):
    topic = a_topic(pair)
    with closing(Clients(pair.bootstrap, tmp_path)) as clients:
        client = clients[name]
        for node in (0, 1):
            own = [n for n, leader in leaders(pair.bootstrap, topic).items() if leader == node]
            for api, use in (
                ("Produce", lambda n: client.produce(topic, [Record(b"k", b"v")], partition=n)),
                ("Fetch", lambda n: client.consume(topic, "earliest", 1, partition=n)),
            ):
                before = pair.requests(api)
                for number in own:
                    use(number)
                grown = [now - was for now, was in zip(pair.requests(api), before, strict=True)]
                assert grown[node] >= len(own), (api, node, grown)
                assert grown[1 - node] == 0, (api, node, grown)


class Writer:
    """An idempotent producer that writes numbers to every partition until it is told to end."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 5,
                # By default it would hear of a new process after five minutes.
                "topic.metadata.refresh.interval.ms": 1_000,
            }
        )
        self._topic = topic
        self._stop = threading.Event()
        self.sent: defaultdict[int, list[bytes]] = defaultdict(list)
        self.acknowledged = 0
        self.failed: list[Any] = []
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    def _write(self) -> None:
        number = 0
        while not self._stop.is_set():
            for partition in range(PARTITIONS):
                value = b"%d" % number
                self._producer.produce(
                    self._topic, value, partition=partition, on_delivery=self._told
                )
                self.sent[partition].append(value)
            number += 1
            self._producer.poll(0.02)
        self._producer.flush(60)

    def _told(self, error: Any, _: Any) -> None:
        if error is not None:
            self.failed.append(error)
        else:
            self.acknowledged += 1

    def goes_on(self) -> bool:
        had = self.acknowledged
        return eventually(lambda: self.acknowledged > had + PARTITIONS, TTL_S + 20)

    def end(self) -> None:
        self._stop.set()
        self._thread.join(90)


def everything(bootstrap: str, topic: str, count: int) -> dict[int, list[bytes]]:
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "readers", "enable.auto.commit": False}
    )
    consumer.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
    found: defaultdict[int, list[bytes]] = defaultdict(list)
    deadline = time.monotonic() + 60
    while count and time.monotonic() < deadline:
        for message in consumer.consume(1_000, timeout=1):
            assert message.error() is None, message.error()
            found[message.partition()].append(message.value())
            count -= 1
    consumer.close()
    return found


def test_an_idempotent_producer_loses_repeats_and_swaps_nothing_while_processes_come_and_go(
    stores: tuple[str, str], tmp_path: Path
):
    with ExitStack() as stack:
        pair = Pair(stores, tmp_path, stack)
        first = pair.add()
        topic = "letters"
        Confluent(pair.bootstrap).create_topic(topic, PARTITIONS, {})
        writer = Writer(pair.bootstrap, topic)
        stack.callback(writer.end)
        assert writer.goes_on()
        second = pair.add()
        assert eventually(lambda: pair.sees(2), 2 * RENEW_S)
        assert eventually(lambda: set(leaders(pair.bootstrap, topic).values()) == {0, 1})
        assert eventually(lambda: pair.requests("Produce")[1] > 0, 10), "it does not go there"
        assert writer.goes_on()
        first.kill()
        bootstrap = second.broker.bootstrap
        assert writer.goes_on(), "it does not get over the death of a process"
        assert eventually(lambda: pair.sees(1), TTL_S + 2 * RENEW_S + 2)
        assert set(leaders(bootstrap, topic).values()) == {1}
        assert writer.goes_on()
        writer.end()
        assert writer.failed == []
        count = sum(map(len, writer.sent.values()))
        assert writer.acknowledged == count
        assert everything(bootstrap, topic, count) == writer.sent


def test_kafka_python_goes_on_when_a_process_is_killed(pair: Pair):
    topic = a_topic(pair)
    both = [samsa.broker.bootstrap for samsa in pair.samsas]
    producer = KafkaProducer(bootstrap_servers=both, acks="all", retries=200, retry_backoff_ms=200)
    with closing(producer):

        def write(word: bytes) -> None:
            sent = [producer.send(topic, word, partition=n) for n in range(PARTITIONS)]
            for future in sent:
                future.get(TTL_S + 30)

        write(b"before")
        assert min(pair.requests("Produce")) > 0
        pair.samsas[1].kill()
        write(b"after")
    consumer = KafkaConsumer(
        topic, bootstrap_servers=both, auto_offset_reset="earliest", consumer_timeout_ms=5_000
    )
    with closing(consumer):
        found: defaultdict[int, list[bytes]] = defaultdict(list)
        for message in consumer:
            found[message.partition].append(message.value)
    for number in range(PARTITIONS):
        # kafka-python's producer is not idempotent by default: a retry may repeat a record.
        assert sorted(set(found[number]), reverse=True) == [b"before", b"after"], found[number]


def written(pair: Pair) -> str:
    topic = a_topic(pair)
    client = Confluent(pair.bootstrap)
    for number in range(PARTITIONS):
        client.produce(topic, [Record(None, b"v")] * EACH, partition=number)
    return topic


def test_a_consumer_of_librdkafka_reads_in_its_own_zone(pair: Pair):
    topic = written(pair)
    before = pair.requests("Fetch")
    consumer = Consumer(
        {
            "bootstrap.servers": pair.bootstrap,
            "group.id": "near",
            "client.rack": "b",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
    found: list[Any] = []
    deadline = time.monotonic() + 60
    while len(found) < ALL and time.monotonic() < deadline:
        found += consumer.consume(1_000, timeout=1)
    assert len(found) == ALL
    settled = pair.requests("Fetch")
    consumer.consume(1, timeout=3)
    later = pair.requests("Fetch")
    consumer.close()
    assert later[0] - settled[0] <= 1, "it has a fetch at most that was under way"
    assert later[1] > settled[1] > before[1]


def test_a_consumer_of_java_reads_in_its_own_zone(pair: Pair, tmp_path: Path):
    topic = written(pair)
    config = tmp_path / "consumer.properties"
    config.write_text("client.rack=b\n")
    command = [*kafka_java("256M"), CONSOLE, "--bootstrap-server", pair.bootstrap]
    command += ["--topic", topic, "--from-beginning", "--max-messages", str(ALL)]
    command += ["--timeout-ms", "30000", "--command-config", str(config)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ran.stdout.split() == ["v"] * ALL, ran.stderr
    here, near = pair.requests("Fetch")
    assert near > here > 0, "the leader says where to go, and no more"
