"""What every transactional producer can be asked to do, and the producers by the client's name."""

import asyncio
import itertools
import threading
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

from aiokafka import AIOKafkaProducer
from aiokafka import TopicPartition as AioPartition
from clients.adapters.driver import Driver
from clients.client import PATIENCE
from clients.registry import Clients
from confluent_kafka import Consumer, Producer, TopicPartition
from kafka import KafkaProducer
from kafka import TopicPartition as PythonPartition
from kafka.structs import ConsumerGroupMetadata, OffsetAndMetadata
from support.needs import go_members

T = TypeVar("T")
At = tuple[str, int]
"""A topic and a partition."""


class Transactor(Protocol):
    """A producer with a transactional id. What the broker refuses is raised."""

    def begin(self) -> None: ...

    def send(self, places: Sequence[At], values: Sequence[str]) -> None:
        """All values to each place, in order; returns when they are answered. What was refused may
        be raised by commit only."""

    def send_offset(self, group: str, topic: str, offset: int) -> None:
        """Commit the group's place in partition 0, within the transaction."""

    def commit(self) -> None: ...

    def abort(self) -> None: ...

    def close(self) -> None: ...


class ByConfluent:
    def __init__(self, bootstrap: str, transactional_id: str, timeout_ms: int) -> None:
        self.bootstrap = bootstrap
        self.producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "transactional.id": transactional_id,
                "transaction.timeout.ms": timeout_ms,
                "linger.ms": 0,
            }
        )
        self.producer.init_transactions(PATIENCE)

    def begin(self) -> None:
        self.producer.begin_transaction()

    def send(self, places: Sequence[At], values: Sequence[str]) -> None:
        for topic, partition in places:
            for value in values:
                self.producer.produce(topic, value, partition=partition)
        left = self.producer.flush(PATIENCE)
        if left:
            raise RuntimeError(f"{left} records were not answered")

    def send_offset(self, group: str, topic: str, offset: int) -> None:
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": group})
        place = TopicPartition(topic, 0, offset)
        self.producer.send_offsets_to_transaction([place], consumer.consumer_group_metadata())
        consumer.close()

    def commit(self) -> None:
        self.producer.commit_transaction(PATIENCE)

    def abort(self) -> None:
        self.producer.abort_transaction(PATIENCE)

    def close(self) -> None: ...


class ByKafkaPython:
    def __init__(self, bootstrap: str, transactional_id: str, timeout_ms: int) -> None:
        self.producer = KafkaProducer(
            bootstrap_servers=bootstrap,
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
        )
        self.producer.init_transactions()

    def begin(self) -> None:
        self.producer.begin_transaction()

    def send(self, places: Sequence[At], values: Sequence[str]) -> None:
        sent = [
            self.producer.send(topic, value.encode(), partition=partition)
            for topic, partition in places
            for value in values
        ]
        for one in sent:
            one.get(PATIENCE)

    def send_offset(self, group: str, topic: str, offset: int) -> None:
        offsets = {PythonPartition(topic, 0): OffsetAndMetadata(offset, "", -1)}
        self.producer.send_offsets_to_transaction(
            offsets, ConsumerGroupMetadata(group, -1, "", None)
        )

    def commit(self) -> None:
        self.producer.commit_transaction()

    def abort(self) -> None:
        self.producer.abort_transaction()

    def close(self) -> None:
        self.producer.close(timeout=1)


class ByAiokafka:
    """Its loop runs in a thread: a producer lives from one call to the next."""

    def __init__(self, bootstrap: str, transactional_id: str, timeout_ms: int) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

        async def opened() -> AIOKafkaProducer:
            producer = AIOKafkaProducer(
                bootstrap_servers=bootstrap,
                transactional_id=transactional_id,
                transaction_timeout_ms=timeout_ms,
            )
            await producer.start()
            return producer

        self.producer = self._run(opened())

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE)

    def begin(self) -> None:
        self._run(self.producer.begin_transaction())

    def send(self, places: Sequence[At], values: Sequence[str]) -> None:
        async def work() -> None:
            sent = [
                await self.producer.send(topic, value.encode(), partition=partition)
                for topic, partition in places
                for value in values
            ]
            await asyncio.gather(*sent)

        self._run(work())

    def send_offset(self, group: str, topic: str, offset: int) -> None:
        offsets = {AioPartition(topic, 0): offset}
        self._run(self.producer.send_offsets_to_transaction(offsets, group))

    def commit(self) -> None:
        self._run(self.producer.commit_transaction())

    def abort(self) -> None:
        self._run(self.producer.abort_transaction())

    def close(self) -> None:
        try:
            self._run(asyncio.wait_for(self.producer.stop(), 2))
        finally:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join(PATIENCE)
            self.loop.close()


class ByDriver:
    """A producer in a driver's process, by a name of its own there."""

    _names = itertools.count()

    def __init__(self, driver: Driver, transactional_id: str, timeout_ms: int) -> None:
        self.driver = driver
        self.name = f"producer-{next(self._names)}"
        self._ask("open_producer", id=transactional_id, timeoutMs=timeout_ms)

    def _ask(self, op: str, **arguments: Any) -> None:
        self.driver.ask(op, producer=self.name, **arguments)

    def begin(self) -> None:
        self._ask("begin")

    def send(self, places: Sequence[At], values: Sequence[str]) -> None:
        self._ask("send", places=list(places), values=list(values))

    def send_offset(self, group: str, topic: str, offset: int) -> None:
        self._ask("send_offset", group=group, topic=topic, offset=offset)

    def commit(self) -> None:
        self._ask("commit")

    def abort(self) -> None:
        self._ask("abort")

    def close(self) -> None:
        self._ask("close_producer")


PYTHON: dict[str, Callable[[str, str, int], Transactor]] = {
    "confluent": ByConfluent,
    "kafka-python": ByKafkaPython,
    "aiokafka": ByAiokafka,
}
WRITERS = (*PYTHON, "java", "franz-go", "kafkajs", "sarama")
WITH_OFFSETS = tuple(name for name in WRITERS if name != "franz-go")
"""franz-go commits offsets only by its group sessions; its own test of them is TestTxnEtl."""


class Producers:
    """Opens transactional producers of every client, and closes them at the end."""

    def __init__(self, clients: Clients, log: Path) -> None:
        self.clients = clients
        self.log = log
        self._sarama: Driver | None = None
        self._opened: list[Transactor] = []

    def open(self, client: str, transactional_id: str, timeout_ms: int = 30_000) -> Transactor:
        opened: Transactor
        if client in PYTHON:
            opened = PYTHON[client](self.clients.bootstrap, transactional_id, timeout_ms)
        else:
            opened = ByDriver(self._driver(client), transactional_id, timeout_ms)
        self._opened.append(opened)
        return opened

    def _driver(self, client: str) -> Driver:
        if client != "sarama":
            driver = self.clients[client]
            assert isinstance(driver, Driver)
            return driver
        if self._sarama is None:
            command = [str(go_members() / "sarama_driver"), self.clients.bootstrap]
            self._sarama = Driver(command, self.log.open("w"))
        return self._sarama

    def close(self) -> None:
        for one in self._opened:
            # One that was fenced says so again.
            with suppress(Exception):
                one.close()
        self._opened.clear()
        if self._sarama is not None:
            self._sarama.close()
