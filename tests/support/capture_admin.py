"""What clients say when they administer, for the proxy of capture_frames.py."""

from contextlib import closing

from clients.adapters.kafka_python import KafkaPython
from clients.client import Client, Record
from kafka import TopicPartition
from support.waiting import eventually

from samsa.wire.apis import ApiKey

ADMIN_APIS = frozenset(
    {
        ApiKey.DELETE_RECORDS,
        ApiKey.DESCRIBE_CONFIGS,
        ApiKey.ALTER_CONFIGS,
        ApiKey.DESCRIBE_LOG_DIRS,
        ApiKey.CREATE_PARTITIONS,
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        ApiKey.DESCRIBE_PRODUCERS,
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
    }
)


def administer(client: Client, topic: str) -> None:
    """Each thing that an administrator does to a topic, once."""
    client.create_topic(topic, 1, {"retention.ms": "-1"})
    # Apache Kafka answers before the topic has a leader.
    assert eventually(lambda: client.produce(topic, [Record(None, b"x")] * 3, partition=0))
    client.add_partitions(topic, 3)
    client.alter_configs(topic, {"max.message.bytes": "100000", "cleanup.policy": "delete"})
    client.own_configs(topic)
    client.delete_records(topic, 0, 2)
    client.describe()


def ask_about_logs(bootstrap: str, topic: str) -> None:
    """What only some clients can ask."""
    with closing(KafkaPython(bootstrap).admin()) as admin:
        admin.describe_log_dirs([topic])
        admin.describe_producers([TopicPartition(topic, 0)])
