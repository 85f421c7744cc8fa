"""confluent-kafka: librdkafka from Python."""

import time
from collections.abc import Mapping, Sequence

from clients.client import PATIENCE, Cluster, Isolation, Record, Start
from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
)

LOGICAL = {"earliest": OFFSET_BEGINNING, "latest": OFFSET_END}


class Confluent:
    def __init__(self, bootstrap: str, **settings: object) -> None:
        self.settings = {"bootstrap.servers": bootstrap, **settings}

    def produce(
        self,
        topic: str,
        records: Sequence[Record],
        codec: str = "none",
        partition: int | None = None,
        max_bytes: int | None = None,
    ) -> list[int]:
        size = {"message.max.bytes": max_bytes} if max_bytes else {}
        producer = Producer({**self.settings, **size, "compression.type": codec})
        sent = [Sent(producer, topic, partition, record) for record in records]
        producer.flush(PATIENCE)
        return [one.offset() for one in sent]

    def consume(
        self,
        topic: str,
        start: Start,
        count: int,
        partition: int | None = None,
        isolation: Isolation | None = None,
    ) -> list[Record]:
        # The class refuses to live without a group. Assigned partitions never join it, and
        # committing to it is all that is left of it.
        no_group = {"group.id": "unused", "enable.auto.commit": False}
        isolated = {"isolation.level": isolation} if isolation else {}
        consumer = Consumer({**self.settings, **no_group, **isolated})
        try:
            numbers = [partition] if partition is not None else partitions_of(consumer, topic)
            consumer.assign(positions(consumer, topic, numbers, start))
            return read(consumer, count)
        finally:
            consumer.close()

    def create_topic(self, topic: str, partitions: int, config: Mapping[str, str]) -> None:
        admin = self.admin()
        new = NewTopic(topic, num_partitions=partitions, config=dict(config))
        admin.create_topics([new])[topic].result(PATIENCE)

    def delete_topic(self, topic: str) -> None:
        admin = self.admin()
        admin.delete_topics([topic])[topic].result(PATIENCE)

    def add_partitions(self, topic: str, total: int) -> None:
        admin = self.admin()
        admin.create_partitions([NewPartitions(topic, total)])[topic].result(PATIENCE)

    def own_configs(self, topic: str) -> dict[str, str]:
        admin = self.admin()
        asked = ConfigResource(ConfigResource.Type.TOPIC, topic)
        found = admin.describe_configs([asked])[asked].result(PATIENCE)
        own = ConfigSource.DYNAMIC_TOPIC_CONFIG.value
        return {name: entry.value for name, entry in found.items() if entry.source == own}

    def alter_configs(self, topic: str, config: Mapping[str, str]) -> None:
        admin = self.admin()
        entries = [
            ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
            for name, value in config.items()
        ]
        asked = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
        admin.incremental_alter_configs([asked])[asked].result(PATIENCE)

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        admin = self.admin()
        place = TopicPartition(topic, partition, before)
        admin.delete_records([place])[place].result(PATIENCE)

    def describe(self) -> Cluster:
        admin = self.admin()
        listed = admin.list_topics(timeout=PATIENCE)
        cluster = admin.describe_cluster().result(PATIENCE)
        return Cluster(
            [f"{node.host}:{node.port}" for node in cluster.nodes],
            {name: len(topic.partitions) for name, topic in listed.topics.items()},
        )

    def admin(self) -> AdminClient:
        """To be kept in a variable: its futures fail when it is collected."""
        return AdminClient(self.settings)

    def close(self) -> None: ...


class Sent:
    """A record on its way, and later the offset or the error that came back for it."""

    def __init__(
        self, producer: Producer, topic: str, partition: int | None, record: Record
    ) -> None:
        self.error: object = "no answer in time"
        placed = {} if partition is None else {"partition": partition}
        stamped = {} if record.timestamp is None else {"timestamp": record.timestamp}
        producer.produce(
            topic,
            record.value,
            record.key,
            headers=list(record.headers),
            on_delivery=self.answered,
            **placed,
            **stamped,
        )

    def answered(self, error: object, message: Message) -> None:
        self.error, self.message = error, message

    def offset(self) -> int:
        if self.error is not None:
            raise RuntimeError(f"not delivered: {self.error}")
        return self.message.offset()


def partitions_of(consumer: Consumer, topic: str) -> list[int]:
    return sorted(consumer.list_topics(topic, timeout=PATIENCE).topics[topic].partitions)


def positions(
    consumer: Consumer, topic: str, partitions: Sequence[int], start: Start
) -> list[TopicPartition]:
    if isinstance(start, str):
        return [TopicPartition(topic, number, LOGICAL[start]) for number in partitions]
    asked = [TopicPartition(topic, number, start) for number in partitions]
    return consumer.offsets_for_times(asked, timeout=PATIENCE)


def read(consumer: Consumer, count: int) -> list[Record]:
    records: list[Record] = []
    deadline = time.monotonic() + PATIENCE
    while len(records) < count:
        message = consumer.poll(0.1)
        if message is not None:
            records.append(record_of(message))
        elif time.monotonic() > deadline:
            raise TimeoutError(f"{len(records)} of {count} records came")
    return records


def record_of(message: Message) -> Record:
    if message.error():
        raise KafkaException(message.error())
    return Record(
        message.key(),
        message.value(),
        tuple(message.headers() or ()),
        message.timestamp()[1],
        message.partition(),
        message.offset(),
    )
