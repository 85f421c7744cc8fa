"""A bad day: connections break, functions die while they append, messages overtake one another.

Four idempotent producers and four consumers, each with a WebSocket of its own, through the shim and
the functions. What was acknowledged is there, once, and in its producer's order.
"""

import json
import re
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from support.broker import SAMSA
from support.servers.processes import running

from samsa_websocket.shim import dial

PRODUCERS = CONSUMERS = PARTITIONS = 4
MESSAGES = 60
SECONDS = 120
PATIENT = {"api.version.request.timeout.ms": 60_000}
"""librdkafka takes a broker that is slow at first for one of Kafka 0.9, and gives up for good."""
WEATHER = {"drop": 0.03, "kill": 0.03, "delay_s": 0.03}


class RunningGateway:
    def __init__(self, url: str, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self._root = url.replace("ws://", "http://").rpartition("/")[0]

    def chaos(self, **asked: Any) -> None:
        data = json.dumps(asked).encode()
        urllib.request.urlopen(f"{self._root}/_local/chaos", data, timeout=10).close()

    def get(self, path: str) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self._root}{path}", timeout=30) as answer:
            found: dict[str, Any] = json.load(answer)
        return found


@pytest.fixture
def gateway(environment: dict[str, str], tmp_path: Path) -> Iterator[RunningGateway]:
    log = tmp_path / "local-api.log"
    # Two hours are three seconds here.
    options = ["--port", "0", "--life", "3", "--chaos-seed", "7", "--log-level", "error"]
    where = ["--ledger", environment["SAMSA_LEDGER"], "--objects", environment["SAMSA_OBJECTS"]]

    def listening() -> str | None:
        found = re.search(r"listening on (\S+)", log.read_text())
        return found[1] if found else None

    command = [str(SAMSA), "local-api", *options, *where]
    with running(command, log, listening) as url, dial(url, sign=False) as bootstrap:
        yield RunningGateway(url, bootstrap)


@pytest.fixture
def topic(gateway: RunningGateway) -> str:
    name = f"storm-{uuid4()}"
    admin = AdminClient({"bootstrap.servers": gateway.bootstrap})
    [made] = admin.create_topics([NewTopic(name, PARTITIONS)], request_timeout=60).values()
    made.result(60)
    return name


def produce(
    gateway: RunningGateway, topic: str, label: int, acknowledged: list[tuple[int, bytes]]
) -> None:
    producer = Producer(
        {
            "bootstrap.servers": gateway.bootstrap,
            "enable.idempotence": True,
            "linger.ms": 0,
            "batch.num.messages": 3,
            "message.timeout.ms": SECONDS * 1000,
            **PATIENT,
        }
    )

    def delivered(error: Any, message: Any) -> None:
        if error is None:
            acknowledged.append((message.partition(), message.value()))

    for number in range(MESSAGES):
        value = b"%d/%d" % (label, number)
        producer.produce(topic, value, partition=number % PARTITIONS, on_delivery=delivered)
        producer.poll(0.02)
    producer.flush(SECONDS)


def consume(
    gateway: RunningGateway, topic: str, partition: int, seen: list[bytes], enough: threading.Event
):
    consumer = Consumer({"bootstrap.servers": gateway.bootstrap, "group.id": "none", **PATIENT})
    consumer.assign([TopicPartition(topic, partition, 0)])
    while not enough.is_set():
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            seen.append(message.value())
    consumer.close()


def test_the_http_api_is_served_on_the_same_port(gateway: RunningGateway):
    assert gateway.get("/health")["status"] == "ok"


@pytest.mark.timeout(300)
def test_in_a_storm_nothing_acknowledged_is_lost_doubled_or_out_of_order(
    gateway: RunningGateway, topic: str
):
    acknowledged: list[tuple[int, bytes]] = []
    seen: list[list[bytes]] = [[] for _ in range(PARTITIONS)]
    enough = threading.Event()
    gateway.chaos(**WEATHER)
    producers = [
        threading.Thread(target=produce, args=(gateway, topic, label, acknowledged))
        for label in range(PRODUCERS)
    ]
    consumers = [
        threading.Thread(target=consume, args=(gateway, topic, partition, seen[partition], enough))
        for partition in range(CONSUMERS)
    ]
    for thread in (*producers, *consumers):
        thread.start()
    for thread in producers:
        thread.join()
    gateway.chaos(drop=0, kill=0, delay_s=0)
    wait_for(lambda: set(acknowledged) <= set(placed(seen)), 60)
    enough.set()
    for thread in consumers:
        thread.join()

    found = placed(seen)
    assert set(acknowledged) <= set(found), "lost"
    assert not [value for value, times in Counter(found).items() if times > 1], "doubled"
    for values in seen:
        for label in range(PRODUCERS):
            mine = [int(v.split(b"/")[1]) for v in values if v.startswith(b"%d/" % label)]
            assert mine == sorted(mine), "out of order"
    assert len(acknowledged) == PRODUCERS * MESSAGES
    stats = gateway.get("/_local/stats")
    assert stats["failed"] > 0
    assert stats["connections"] > PRODUCERS + CONSUMERS + 4


def placed(seen: list[list[bytes]]) -> list[tuple[int, bytes]]:
    return [(partition, value) for partition, values in enumerate(seen) for value in list(values)]


def wait_for(true: Any, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.1)
