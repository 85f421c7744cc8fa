"""Producers of a soak: each remembers what was acknowledged, and where."""

import itertools
import threading
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, Message, Producer

LINGER_MS = 2
PAUSE_S = 0.004
BURST = 6


class Place(NamedTuple):
    topic: str
    partition: int
    offset: int


class Writer(threading.Thread):
    """Sends bursts to the partitions of a topic in turn, until it is told to stop."""

    def __init__(self, bootstrap: str, topic: str, partitions: int, idempotent: bool) -> None:
        super().__init__(daemon=True)
        self._topic = topic
        self._kind = b"once" if idempotent else b"plain"
        self._partitions = itertools.cycle(range(partitions))
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": idempotent,
                "acks": "all",
                "linger.ms": LINGER_MS,
                "delivery.timeout.ms": 120_000,
            }
        )
        self.acknowledged: dict[Place, bytes] = {}
        self.sent = 0
        self.failures: list[str] = []
        self._stopping = threading.Event()

    def run(self) -> None:
        while not self._stopping.wait(PAUSE_S):
            for _ in range(BURST):
                self._send(next(self._partitions))
            self._producer.poll(0)
        left = self._producer.flush(120)
        if left:
            self.failures.append(f"{left} messages were never answered")

    def _send(self, partition: int) -> None:
        value = b"%s %d/%d " % (self._kind, partition, self.sent) + b"." * 200
        self.sent += 1
        try:
            self._producer.produce(self._topic, value, partition=partition, on_delivery=self._told)
        except BufferError:
            self._producer.poll(0.1)

    def _told(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.failures.append(str(error))
            return
        place = Place(message.topic(), message.partition(), message.offset())
        value: Any = message.value()
        if self.acknowledged.setdefault(place, value) != value:
            self.failures.append(f"two values were acknowledged at {place}")

    def finish(self) -> None:
        self._stopping.set()
        self.join(150)
        assert not self.is_alive(), f"a writer of {self._topic} hangs"
