"""Producers of a soak: each remembers what was acknowledged, and where."""

import threading
from typing import NamedTuple

from confluent_kafka import KafkaError, Message, Producer

LINGER_MS = 2
PAUSE_S = 0.004
BURST = 6


class Place(NamedTuple):
    topic: str
    partition: int
    offset: int


class Said(NamedTuple):
    """A record."""

    key: bytes | None
    value: bytes

    @property
    def is_once(self) -> bool:
        """Of a producer whose records are stored once, and in order."""
        return self.value.startswith(b"once")

    @property
    def number(self) -> int:
        """It grows from record to record of a producer."""
        return int(self.value.split()[1])


def place_of(message: Message) -> Place:
    return Place(message.topic(), message.partition(), message.offset())


class Writer(threading.Thread):
    """Sends bursts to the partitions of a topic in turn, until it is told to stop. With `keys` it
    writes so many in turn, in each partition others, and nobody else does."""

    def __init__(
        self, bootstrap: str, topic: str, partitions: int, idempotent: bool, keys: int = 0
    ) -> None:
        super().__init__(daemon=True)
        self._topic = topic
        self._kind = b"once" if idempotent else b"plain"
        self._partitions = partitions
        self._keys = keys
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": idempotent,
                "acks": "all",
                "linger.ms": LINGER_MS,
                "delivery.timeout.ms": 120_000,
            }
        )
        self.acknowledged: dict[Place, Said] = {}
        self.sent = 0
        self.failures: list[str] = []
        self._stopping = threading.Event()

    def run(self) -> None:
        while not self._stopping.wait(PAUSE_S):
            for _ in range(BURST):
                self._send()
            self._producer.poll(0)
        left = self._producer.flush(120)
        if left:
            self.failures.append(f"{left} messages were never answered")

    def _send(self) -> None:
        partition = self.sent % self._partitions
        turn = self.sent // self._partitions
        key = b"%s %d/%d" % (self._kind, partition, turn % self._keys) if self._keys else None
        value = b"%s %d " % (self._kind, self.sent) + b"." * 200
        self.sent += 1
        try:
            self._producer.produce(
                self._topic, value, key, partition=partition, on_delivery=self._told
            )
        except BufferError:
            self._producer.poll(0.1)

    def _told(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.failures.append(str(error))
            return
        place, said = place_of(message), Said(message.key(), message.value())
        if self.acknowledged.setdefault(place, said) != said:
            self.failures.append(f"two records were acknowledged at {place}")

    def finish(self) -> None:
        self._stopping.set()
        self.join(150)
        assert not self.is_alive(), f"a writer of {self._topic} hangs"
