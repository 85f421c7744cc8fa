"""Consumers of a soak: what they saw, and whether they ever saw it change."""

import threading
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition
from soak.writers import Place, Said, place_of


def a_consumer(bootstrap: str, reset: str = "earliest") -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "soak",
            "enable.auto.commit": False,
            "auto.offset.reset": reset,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 100,
        }
    )


class Follower(threading.Thread):
    """Reads all partitions of a topic as they grow. Retention may overtake it: then it goes on
    where the log starts."""

    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        super().__init__(daemon=True)
        self._consumer = a_consumer(bootstrap)
        self._consumer.assign(
            [TopicPartition(topic, n, OFFSET_BEGINNING) for n in range(partitions)]
        )
        self.seen: dict[Place, Said] = {}
        self.failures: list[str] = []
        self._stopping = threading.Event()

    def run(self) -> None:
        last: dict[int, int] = {}
        while not self._stopping.is_set():
            for message in self._consumer.consume(500, 0.2):
                error = message.error()
                if error is None:
                    self._see(message, last)
                elif error.code() != KafkaError._PARTITION_EOF and not error.retriable():
                    self.failures.append(str(error))
        self._consumer.close()

    def _see(self, message: Any, last: dict[int, int]) -> None:
        place = place_of(message)
        if place.offset <= last.get(place.partition, -1):
            self.failures.append(f"{place} came again")
        last[place.partition] = place.offset
        self.seen[place] = Said(message.key(), message.value())

    def finish(self) -> None:
        self._stopping.set()
        self.join(60)
        assert not self.is_alive(), "a follower hangs"


def read_all(bootstrap: str, topic: str, partitions: int) -> dict[Place, Said]:
    """Everything that is there now, from the log's start to its end."""
    consumer, found = a_consumer(bootstrap), {}
    consumer.assign([TopicPartition(topic, n, OFFSET_BEGINNING) for n in range(partitions)])
    ended: set[int] = set()
    while len(ended) < partitions:
        for message in consumer.consume(500, 0.2):
            error = message.error()
            if error is None:
                found[place_of(message)] = Said(message.key(), message.value())
                ended.discard(message.partition())
            elif error.code() == KafkaError._PARTITION_EOF:
                ended.add(message.partition())
            elif not error.retriable():
                raise KafkaException(error)
    consumer.close()
    return found


def starts(bootstrap: str, topic: str, partitions: int) -> list[int]:
    consumer = a_consumer(bootstrap)
    found = [
        consumer.get_watermark_offsets(TopicPartition(topic, n), 30, cached=False)[0]
        for n in range(partitions)
    ]
    consumer.close()
    return found
