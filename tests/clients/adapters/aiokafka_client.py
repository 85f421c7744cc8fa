"""aiokafka."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import for_code
from clients.client import PATIENCE, Cluster, Isolation, Record, Start

T = TypeVar("T")
TOPIC_SOURCE = 1


class Aiokafka:
    def __init__(self, bootstrap: str, **settings: Any) -> None:
        self.settings = {"bootstrap_servers": bootstrap, **settings}

    def produce(
        self,
        topic: str,
        records: Sequence[Record],
        codec: str = "none",
        partition: int | None = None,
        max_bytes: int | None = None,
    ) -> list[int]:
        size = {"max_request_size": max_bytes} if max_bytes else {}
        compression = None if codec == "none" else codec

        async def work() -> list[int]:
            async with AIOKafkaProducer(
                compression_type=compression, **self.settings, **size
            ) as producer:
                sent = [await send(producer, topic, partition, record) for record in records]
                return [(await future).offset for future in sent]

        return within_patience(work)

    def consume(
        self,
        topic: str,
        start: Start,
        count: int,
        partition: int | None = None,
        isolation: Isolation | None = None,
    ) -> list[Record]:
        # Without a group, a consumer of a topic is given all of its partitions. The start is a
        # setting: to seek at once would race with the consumer's own first look-up.
        topics = [topic] if partition is None else []
        settings = {"auto_offset_reset": start} if isinstance(start, str) else {}
        settings |= {"isolation_level": isolation} if isolation else {}

        async def work() -> list[Record]:
            async with AIOKafkaConsumer(*topics, **self.settings, **settings) as consumer:
                if partition is not None:
                    consumer.assign([TopicPartition(topic, partition)])
                if isinstance(start, int):
                    await seek(consumer, start)
                return [record_of(await consumer.getone()) for _ in range(count)]

        return within_patience(work)

    def create_topic(self, topic: str, partitions: int, config: Mapping[str, str]) -> None:
        async def work() -> None:
            async with self.admin() as admin:
                new = NewTopic(topic, partitions, 1, topic_configs=dict(config))
                check((await admin.create_topics([new])).topic_errors)

        within_patience(work)

    def delete_topic(self, topic: str) -> None:
        async def work() -> None:
            async with self.admin() as admin:
                check((await admin.delete_topics([topic])).topic_error_codes)

        within_patience(work)

    def add_partitions(self, topic: str, total: int) -> None:
        async def work() -> None:
            async with self.admin() as admin:
                check((await admin.create_partitions({topic: NewPartitions(total)})).topic_errors)

        within_patience(work)

    def own_configs(self, topic: str) -> dict[str, str]:
        async def work() -> dict[str, str]:
            asked = ConfigResource(ConfigResourceType.TOPIC, topic)
            async with self.admin() as admin:
                (answer,) = await admin.describe_configs([asked])
            ((code, message, _, name, found),) = answer.resources
            check([(name, code, message)])
            return {name: value for name, value, _, source, *_ in found if source == TOPIC_SOURCE}

        return within_patience(work)

    def alter_configs(self, topic: str, config: Mapping[str, str]) -> None:
        async def work() -> None:
            asked = ConfigResource(ConfigResourceType.TOPIC, topic, dict(config))
            async with self.admin() as admin:
                (answer,) = await admin.alter_configs([asked])
            check([(name, code, message) for code, message, _, name in answer.resources])

        within_patience(work)

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        async def work() -> None:
            async with self.admin() as admin:
                place = TopicPartition(topic, partition)
                await admin.delete_records({place: RecordsToDelete(before)})

        within_patience(work)

    def describe(self) -> Cluster:
        async def work() -> Cluster:
            async with self.admin() as admin:
                cluster = await admin.describe_cluster()
                topics = await admin.describe_topics()
            return Cluster(
                [f"{one['host']}:{one['port']}" for one in cluster["brokers"]],
                {one["topic"]: len(one["partitions"]) for one in topics},
            )

        return within_patience(work)

    @asynccontextmanager
    async def admin(self):
        admin = AIOKafkaAdminClient(**self.settings)
        await admin.start()
        try:
            yield admin
        finally:
            await admin.close()

    def close(self) -> None: ...


def within_patience(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(PATIENCE):
            return await work()

    return asyncio.run(bounded())


async def send(producer: AIOKafkaProducer, topic: str, partition: int | None, record: Record):
    return await producer.send(
        topic,
        value=record.value,
        key=record.key,
        headers=list(record.headers),
        partition=partition,
        timestamp_ms=record.timestamp,
    )


async def seek(consumer: AIOKafkaConsumer, time_ms: int) -> None:
    found = await consumer.offsets_for_times(dict.fromkeys(consumer.assignment(), time_ms))
    for partition, place in found.items():
        consumer.seek(partition, place.offset)


def check(errors: Sequence[tuple]) -> None:
    for topic, code, *_ in errors:
        if code:
            raise for_code(code)(topic)


def record_of(message) -> Record:
    return Record(
        message.key,
        message.value,
        tuple(message.headers),
        message.timestamp,
        message.partition,
        message.offset,
    )
