"""kafka-python."""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing

from clients.client import PATIENCE, Cluster, Isolation, Record, Start
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import UnsupportedCodecError
from support.tools import absent, require_module

LIBRARIES = {"snappy": "snappy", "lz4": "lz4", "zstd": "zstandard"}


class KafkaPython:
    def __init__(self, bootstrap: str, **settings: object) -> None:
        self.settings = {"bootstrap_servers": bootstrap, **settings}

    def produce(
        self,
        topic: str,
        records: Sequence[Record],
        codec: str = "none",
        partition: int | None = None,
        max_bytes: int | None = None,
    ) -> list[int]:
        need(codec)
        size = {"max_request_size": max_bytes} if max_bytes else {}
        compression = None if codec == "none" else codec
        with closing(
            KafkaProducer(**self.settings, **size, compression_type=compression)
        ) as producer:
            sent = [send(producer, topic, partition, record) for record in records]
            return [future.get(PATIENCE).offset for future in sent]

    def consume(
        self,
        topic: str,
        start: Start,
        count: int,
        partition: int | None = None,
        isolation: Isolation | None = None,
    ) -> list[Record]:
        isolated = {"isolation_level": isolation} if isolation else {}
        with closing(KafkaConsumer(**self.settings, **isolated)) as consumer:
            numbers = consumer.partitions_for_topic(topic) if partition is None else [partition]
            assigned = [TopicPartition(topic, number) for number in sorted(numbers)]
            consumer.assign(assigned)
            seek(consumer, assigned, start)
            return read(consumer, count)

    def create_topic(self, topic: str, partitions: int, config: Mapping[str, str]) -> None:
        with closing(self.admin()) as admin:
            admin.create_topics({topic: {"num_partitions": partitions, "configs": dict(config)}})

    def delete_topic(self, topic: str) -> None:
        with closing(self.admin()) as admin:
            admin.delete_topics([topic])

    def add_partitions(self, topic: str, total: int) -> None:
        with closing(self.admin()) as admin:
            admin.create_partitions({topic: total})

    def own_configs(self, topic: str) -> dict[str, str]:
        with closing(self.admin()) as admin:
            asked = ConfigResource(ConfigResourceType.TOPIC, topic)
            found = admin.describe_configs([asked], config_filter="modified")["topic"][topic]
        return {name: data["value"] for name, data in found.items()}

    def alter_configs(self, topic: str, config: Mapping[str, str]) -> None:
        with closing(self.admin()) as admin:
            asked = ConfigResource(ConfigResourceType.TOPIC, topic, dict(config))
            told = admin.alter_configs([asked])["topic"][topic]
        if told != "OK":
            raise RuntimeError(told)

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        with closing(self.admin()) as admin:
            admin.delete_records({TopicPartition(topic, partition): before})

    def describe(self) -> Cluster:
        with closing(self.admin()) as admin:
            return Cluster(
                [f"{one['host']}:{one['port']}" for one in admin.describe_cluster()["brokers"]],
                {one["name"]: len(one["partitions"]) for one in admin.describe_topics()},
            )

    def admin(self) -> KafkaAdminClient:
        return KafkaAdminClient(**self.settings)

    def close(self) -> None: ...


def need(codec: str) -> None:
    if codec in LIBRARIES:
        require_module(LIBRARIES[codec], f"kafka-python speaks {codec} only with it")


def send(producer: KafkaProducer, topic: str, partition: int | None, record: Record):
    return producer.send(
        topic,
        value=record.value,
        key=record.key,
        # An empty list would be refused by formats that have no headers.
        headers=list(record.headers) or None,
        partition=partition,
        timestamp_ms=record.timestamp,
    )


def seek(consumer: KafkaConsumer, assigned: Sequence[TopicPartition], start: Start) -> None:
    if start == "earliest":
        consumer.seek_to_beginning(*assigned)
    elif start == "latest":
        consumer.seek_to_end(*assigned)
    else:
        found = consumer.offsets_for_times(dict.fromkeys(assigned, start))
        for partition, place in found.items():
            consumer.seek(partition, place.offset)


def read(consumer: KafkaConsumer, count: int) -> list[Record]:
    try:
        return read_all(consumer, count)
    except UnsupportedCodecError as error:
        absent("a compression library", f"kafka-python cannot read: {error}")


def read_all(consumer: KafkaConsumer, count: int) -> list[Record]:
    records: list[Record] = []
    deadline = time.monotonic() + PATIENCE
    while len(records) < count:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(records)} of {count} records came")
        polled = consumer.poll(timeout_ms=200, max_records=count - len(records))
        records += [record_of(message) for batch in polled.values() for message in batch]
    return records


def record_of(message) -> Record:
    headers = tuple((name, value) for name, value in message.headers)
    return Record(
        message.key, message.value, headers, message.timestamp, message.partition, message.offset
    )
