"""Producers that write numbered records until told to stop, and note what was acknowledged."""

import asyncio
import random
import threading
import time
from typing import Any, NamedTuple

from aiokafka import AIOKafkaProducer
from confluent_kafka import KafkaError, Message
from confluent_kafka import Producer as Confluent

FLUSH_S = 60
PACE_S = 0.001


class Acknowledged(NamedTuple):
    offset: int
    value: bytes


class Producer:
    """A thread; what it sends is `sent`, in order, and what was acknowledged, in that order."""

    def __init__(self, bootstrap: str, topic: str, seed: int) -> None:
        self.bootstrap = bootstrap
        self.topic = topic
        self.sent: list[bytes] = []
        self.acknowledged: list[Acknowledged] = []
        self.errors: list[str] = []
        self._random = random.Random(seed)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=topic, daemon=True)
        self._thread.start()

    def next_value(self) -> bytes:
        padding = b"x" * self._random.choice((0, 10, 500, 5_000))
        self.sent.append(b"%d %s" % (len(self.sent), padding))
        return self.sent[-1]

    def finish(self) -> None:
        """Send no more, and wait until all that was sent has an answer."""
        self._stop.set()
        self._thread.join(FLUSH_S + 10)
        assert not self._thread.is_alive(), f"{self.topic}: the producer never got its answers"
        assert not self.errors, f"{self.topic}: {self.errors[:3]}"
        assert len(self.acknowledged) == len(self.sent), f"{self.topic}: answers are missing"

    def _run(self) -> None:
        raise NotImplementedError


class Librdkafka(Producer):
    """confluent-kafka; `idempotent` or plain, both on acks=all."""

    idempotent = False

    def _run(self) -> None:
        producer = Confluent(
            {
                "bootstrap.servers": self.bootstrap,
                "acks": "all",
                "enable.idempotence": self.idempotent,
                "linger.ms": 1,
                "message.timeout.ms": 120_000,
                "request.timeout.ms": 5_000,
                "socket.timeout.ms": 10_000,
                "retry.backoff.ms": 20,
                "retry.backoff.max.ms": 200,
                "reconnect.backoff.ms": 10,
                "reconnect.backoff.max.ms": 100,
                "log_level": 0,
                "error_cb": self._note_fatal,
            }
        )
        while not self._stop.is_set():
            producer.produce(self.topic, self.next_value(), partition=0, on_delivery=self._note)
            producer.poll(0)
            time.sleep(PACE_S)
        left = producer.flush(FLUSH_S)
        if left:
            self.errors.append(f"{left} records were never answered")

    def _note(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.errors.append(str(error))
        else:
            self.acknowledged.append(Acknowledged(message.offset(), message.value()))

    def _note_fatal(self, error: KafkaError) -> None:
        if error.fatal():
            self.errors.append(str(error))


class Plain(Librdkafka):
    pass


class Idempotent(Librdkafka):
    idempotent = True


class OneByOne(Producer):
    """aiokafka, idempotent: each record is acknowledged before the next is sent."""

    def _run(self) -> None:
        try:
            asyncio.run(self._produce())
        except Exception as error:
            self.errors.append(repr(error))

    async def _produce(self) -> None:
        producer = AIOKafkaProducer(
            bootstrap_servers=self.bootstrap,
            enable_idempotence=True,
            request_timeout_ms=60_000,
            retry_backoff_ms=20,
        )
        await producer.start()
        try:
            while not self._stop.is_set():
                value = self.next_value()
                self._note(await producer.send_and_wait(self.topic, value, partition=0), value)
                await asyncio.sleep(PACE_S)
        finally:
            await producer.stop()

    def _note(self, where: Any, value: bytes) -> None:
        self.acknowledged.append(Acknowledged(where.offset, value))
