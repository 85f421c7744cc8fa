"""Topics, made before and dropped after: neither is what is measured."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from .brokers import Broker
from .process import ToolFailed

PATIENCE_S = 30


@contextmanager
def topic(broker: Broker, name: str, partitions: int = 1) -> Iterator[str]:
    where = {"bootstrap.servers": broker.entrance.address, "log_level": 3}
    admin = AdminClient({**where, **broker.entrance.librdkafka})
    try:
        admin.create_topics([NewTopic(name, partitions, 1)])[name].result(PATIENCE_S)
    except (KafkaException, TimeoutError) as error:
        raise ToolFailed(f"cannot create {name}: {error!r}") from error
    try:
        yield name
    finally:
        with suppress(KafkaException, TimeoutError):
            admin.delete_topics([name])[name].result(PATIENCE_S)
