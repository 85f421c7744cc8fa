"""librdkafka, one message after the other, each with its time from the call to the outcome."""

import os
import time
from collections.abc import Callable
from typing import TypeVar

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from harness.process import ToolFailed
from harness.rows import FAR_PAUSE_MS

from .calls import Span

PAUSE_S = FAR_PAUSE_MS / 1000
"""Between two messages: what an append leaves to be done after it is over by then."""
WARM_UP = 5
PATIENCE_S = 60.0
T = TypeVar("T")
PLAIN = {
    "socket.nagle.disable": True,
    "broker.address.family": "v4",
    "log_level": 3,
}


def acknowledged(
    address: str,
    topic: str,
    size: int,
    count: int,
    *,
    idempotent: bool = False,
    pause_s: float = PAUSE_S,
) -> list[Span]:
    producer = _producer(address, idempotent)
    value = os.urandom(size)
    found = [_acknowledged(producer, topic, value, pause_s) for _ in range(WARM_UP + count)]
    return found[WARM_UP:]


def _producer(address: str, idempotent: bool = False) -> Producer:
    asked = {"bootstrap.servers": address, "linger.ms": 0, "enable.idempotence": idempotent}
    return Producer(PLAIN | asked)


def _acknowledged(producer: Producer, topic: str, value: bytes, pause_s: float) -> Span:
    outcomes: list[tuple[KafkaError | None, float]] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        outcomes.append((error, time.monotonic()))

    time.sleep(pause_s)
    began = time.monotonic()
    producer.produce(topic, value, partition=0, on_delivery=delivered)
    while not outcomes and time.monotonic() < began + PATIENCE_S:
        _served(producer.poll)
    if not outcomes or outcomes[0][0] is not None:
        producer.purge()
        raise ToolFailed(f"not acknowledged: {outcomes or 'time is up'}")
    return Span(began, outcomes[0][1])


def _served(poll: Callable[[float], T]) -> T:
    """Within a second. confluent-kafka loses the exception of a signal that came meanwhile."""
    try:
        return poll(1)
    except SystemError as error:
        raise KeyboardInterrupt from error


def seen(address: str, topic: str, size: int, count: int) -> list[Span]:
    """Until a consumer has it that waits for it."""
    asked = {"bootstrap.servers": address, "group.id": "far", "enable.auto.commit": False}
    producer, consumer = _producer(address), Consumer(PLAIN | asked)
    try:
        _acknowledged(producer, topic, b"first", 0)
        _, end = consumer.get_watermark_offsets(TopicPartition(topic, 0), PATIENCE_S)
        consumer.assign([TopicPartition(topic, 0, end)])
        _served(consumer.poll)
        found = [_seen(producer, consumer, topic, os.urandom(size)) for _ in range(WARM_UP + count)]
    finally:
        consumer.close()
    return found[WARM_UP:]


def _seen(producer: Producer, consumer: Consumer, topic: str, value: bytes) -> Span:
    time.sleep(PAUSE_S)
    began = time.monotonic()
    producer.produce(topic, value, partition=0)
    while time.monotonic() < began + PATIENCE_S:
        message = _served(consumer.poll)
        ended = time.monotonic()
        producer.poll(0)
        if message is not None and message.error() is None and message.value() == value:
            return Span(began, ended)
    raise ToolFailed("a consumer that waited did not see a message")
