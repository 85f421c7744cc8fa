"""Producers and a consumer at work, each on a thread of its own, and what they were told."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka import Consumer, Message, Producer, TopicPartition
from faults.cluster import Cluster

PARTITIONS = 4
PAUSE_S = 0.01
LARGE_BYTES = 6_000
"""More than the ledger takes: what is smaller never asks S3."""
DELIVERY_S = 40.0
REQUEST_S = 1.5
SETTINGS = {
    "linger.ms": 5,
    "message.timeout.ms": int(DELIVERY_S * 1000),
    "request.timeout.ms": int(REQUEST_S * 1000),
    "socket.timeout.ms": 20_000,
    "reconnect.backoff.max.ms": 500,
}


@dataclass
class Sent:
    """A record, and the offset or the error that came back for it."""

    value: bytes
    partition: int
    sent_at: float
    offset: int | None = None
    """None also if it is stored because the one after it is: librdkafka tells no offset then."""
    error: str | None = "no answer"
    took_s: float = -1.0

    def answered(self, error: object, message: Message) -> None:
        self.took_s = time.monotonic() - self.sent_at
        self.error = str(error) if error else None
        self.offset = None if error else message.offset()

    @property
    def is_acknowledged(self) -> bool:
        return self.error is None


class Sender:
    def __init__(self, bootstrap: str, topic: str, name: str, **settings: object) -> None:
        self.name = name
        self.sent: list[Sent] = []
        self._topic = topic
        self._producer = Producer({"bootstrap.servers": bootstrap, **SETTINGS, **settings})
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(PAUSE_S):
            self._send(len(self.sent))
            self._producer.poll(0)
        self._producer.flush(DELIVERY_S + 10)

    def _send(self, number: int) -> None:
        value = f"{self.name} {number} ".encode()
        if number % 3 == 0:  # 3 and the number of partitions have no divisor in common
            value = value.ljust(LARGE_BYTES, b"x")
        one = Sent(value, number % PARTITIONS, time.monotonic())
        self.sent.append(one)
        self._producer.produce(
            self._topic, value, partition=one.partition, on_delivery=one.answered
        )

    @property
    def acknowledged(self) -> list[Sent]:
        return [one for one in self.sent if one.is_acknowledged]

    def finish(self) -> None:
        """Send no more; returns when the last record was answered or given up."""
        self._stop.set()
        self._thread.join()
        del self._producer


class Watcher:
    """A consumer of all partitions from their start."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.seen: dict[int, list[tuple[int, bytes]]] = {n: [] for n in range(PARTITIONS)}
        self.errors: list[str] = []
        # The class refuses to live without a group. Assigned partitions never join it.
        settings = {"bootstrap.servers": bootstrap, "group.id": "unused"}
        timeouts = {"socket.timeout.ms": 30_000, "reconnect.backoff.max.ms": 500}
        self._consumer = Consumer({**settings, **timeouts, "enable.auto.commit": False})
        self._consumer.assign([TopicPartition(topic, n, 0) for n in range(PARTITIONS)])
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watcher")
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            message = self._consumer.poll(0.1)
            if message is not None and message.error():
                self.errors.append(str(message.error()))
            elif message is not None:
                self.seen[message.partition()].append((message.offset(), message.value()))

    def finish(self) -> None:
        self._stop.set()
        self._thread.join()
        self._consumer.close()


@dataclass(frozen=True)
class Clients:
    plain: Sender
    idempotent: Sender
    watcher: Watcher

    @property
    def senders(self) -> list[Sender]:
        return [self.plain, self.idempotent]


@contextmanager
def at_work(cluster: Cluster, topic: str) -> Iterator[Clients]:
    """The producers on different brokers. They have finished when the block is left."""
    bootstraps = [broker.bootstrap for broker in cluster.brokers]
    clients = Clients(
        Sender(bootstraps[0], topic, "plain", acks="all"),
        Sender(bootstraps[1], topic, "idempotent", **{"enable.idempotence": True}),
        Watcher(bootstraps[0], topic),
    )
    try:
        yield clients
    finally:
        for sender in clients.senders:
            sender.finish()
        clients.watcher.finish()
