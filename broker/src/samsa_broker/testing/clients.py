"""Kafka clients for a test: of whichever library is installed, and closed after the test."""

import itertools
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from typing import Any, NamedTuple

from .broker import SamsaBroker
from .errors import SamsaError

CLOSE_S = 5.0
UNDERSCORED = ("log_level", "on_commit", "on_delivery")
"""Options of confluent-kafka that have no dots; callbacks (`error_cb`) neither."""
_groups = itertools.count(1)


class Library(NamedTuple):
    module: str
    package: str
    producer: Callable[[str, Mapping[str, Any], ExitStack], Any]
    consumer: Callable[[str, str, tuple[str, ...], Mapping[str, Any], ExitStack], Any]


def _confluent_producer(servers: str, options: Mapping[str, Any], closing: ExitStack) -> Any:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": servers, **_dotted(options)})
    closing.callback(producer.flush, CLOSE_S)
    return producer


def _confluent_consumer(
    servers: str,
    group: str,
    topics: tuple[str, ...],
    options: Mapping[str, Any],
    closing: ExitStack,
) -> Any:
    from confluent_kafka import Consumer

    usual = {"bootstrap.servers": servers, "group.id": group, "auto.offset.reset": "earliest"}
    consumer = Consumer({**usual, **_dotted(options)})
    closing.callback(consumer.close)
    if topics:
        consumer.subscribe(list(topics))
    return consumer


def _kafka_python_producer(servers: str, options: Mapping[str, Any], closing: ExitStack) -> Any:
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=servers, **options)
    closing.callback(producer.close, timeout=CLOSE_S)
    return producer


def _kafka_python_consumer(
    servers: str,
    group: str,
    topics: tuple[str, ...],
    options: Mapping[str, Any],
    closing: ExitStack,
) -> Any:
    from kafka import KafkaConsumer

    usual = {"bootstrap_servers": servers, "group_id": group, "auto_offset_reset": "earliest"}
    consumer = KafkaConsumer(*topics, **{**usual, **options})
    closing.callback(consumer.close, autocommit=False, timeout_ms=1000 * CLOSE_S)
    return consumer


def _aiokafka_producer(servers: str, options: Mapping[str, Any], _: ExitStack) -> Any:
    """Started, and stopped, by `async with`."""
    from aiokafka import AIOKafkaProducer

    return AIOKafkaProducer(bootstrap_servers=servers, **options)


def _aiokafka_consumer(
    servers: str, group: str, topics: tuple[str, ...], options: Mapping[str, Any], _: ExitStack
) -> Any:
    """Started, and stopped, by `async with`."""
    from aiokafka import AIOKafkaConsumer

    usual = {"bootstrap_servers": servers, "group_id": group, "auto_offset_reset": "earliest"}
    return AIOKafkaConsumer(*topics, **{**usual, **options})


def _dotted(options: Mapping[str, Any]) -> dict[str, Any]:
    """Names of librdkafka, also as keywords: `linger_ms=0`."""
    return {
        name if name in UNDERSCORED or name.endswith("_cb") else name.replace("_", "."): value
        for name, value in options.items()
    }


LIBRARIES = {
    "confluent-kafka": Library(
        "confluent_kafka", "confluent-kafka", _confluent_producer, _confluent_consumer
    ),
    "kafka-python": Library(
        "kafka", "kafka-python", _kafka_python_producer, _kafka_python_consumer
    ),
    "aiokafka": Library("aiokafka", "aiokafka", _aiokafka_producer, _aiokafka_consumer),
}
AUTO = "auto"


def library(name: str) -> Library:
    """Raises SamsaError: there is none of that name, or it is not installed."""
    if name != AUTO and name not in LIBRARIES:
        raise SamsaError(f"there is no client {name!r}; there are: {', '.join(LIBRARIES)}")
    wanted = LIBRARIES.values() if name == AUTO else [LIBRARIES[name]]
    for each in wanted:
        if find_spec(each.module) is not None:
            return each
    packages = " or ".join(each.package for each in wanted)
    raise SamsaError(f"no Kafka client is installed; try: pip install {packages}")


class Clients:
    """Makes clients of one broker, and closes those that were made."""

    def __init__(self, broker: SamsaBroker, usual: str = AUTO) -> None:
        """`usual`: the client library, if a call names none."""
        self._broker = broker
        self._usual = usual
        self._closing = ExitStack()

    def producer(
        self, options: Mapping[str, Any] | None = None, *, client: str | None = None, **more: Any
    ) -> Any:
        """A producer of the library, with its own options. Raises SamsaError."""
        made_by = library(client or self._usual)
        servers = self._broker.bootstrap_servers
        return made_by.producer(servers, {**(options or {}), **more}, self._closing)

    def consumer(
        self,
        *topics: str,
        group: str | None = None,
        options: Mapping[str, Any] | None = None,
        client: str | None = None,
        **more: Any,
    ) -> Any:
        """A consumer that has subscribed to the topics and reads from the beginning, in a group of
        its own if none is named. Raises SamsaError."""
        made_by = library(client or self._usual)
        named = group or f"samsa-test-{next(_groups)}"
        given = {**(options or {}), **more}
        return made_by.consumer(self._broker.bootstrap_servers, named, topics, given, self._closing)

    def close(self) -> None:
        self._closing.close()
