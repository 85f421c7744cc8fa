"""Topics as a reader sees them while they grow."""

from contextlib import closing
from typing import NamedTuple

from clients.adapters.confluent import partitions_of
from clients.client import Isolation
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Message, TopicPartition
from support.waiting import eventually

QUIET_S = 1.0


class Found(NamedTuple):
    partition: int
    key: str
    value: bytes


class Reader:
    """Reads all partitions of a topic from their start, and keeps what it has read."""

    def __init__(self, bootstrap: str, topic: str, isolation: Isolation = "read_committed") -> None:
        self.found: list[Found] = []
        settings = {"bootstrap.servers": bootstrap, "isolation.level": isolation}
        no_group = {"group.id": "unused", "enable.auto.commit": False}
        self._consumer = Consumer({**settings, **no_group})
        # Apache Kafka answers before the partitions of a new topic have leaders.
        numbers = eventually(lambda: partitions_of(self._consumer, topic))
        self._consumer.assign([TopicPartition(topic, one, OFFSET_BEGINNING) for one in numbers])

    def look(self, seconds: float = 0.0) -> int:
        """How many it has found by now; it waits at most this long for new ones."""
        self.found += [found(message) for message in self._consumer.consume(10_000, seconds)]
        return len(self.found)

    def read_until_quiet(self) -> list[Found]:
        """All that there is, if nobody writes any more."""
        while self.look() < self.look(QUIET_S):
            pass
        return self.found

    def close(self) -> None:
        self._consumer.close()


def everything(bootstrap: str, topic: str) -> list[Found]:
    """What read_committed finds in a topic that nobody writes any more."""
    with closing(Reader(bootstrap, topic)) as reader:
        return reader.read_until_quiet()


def found(message: Message) -> Found:
    if message.error():
        raise KafkaException(message.error())
    partition, key, value = message.partition(), message.key(), message.value()
    assert partition is not None
    assert value is not None
    return Found(partition, key.decode() if key else "", value)
