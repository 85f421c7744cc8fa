"""What clients say when they administer, for the proxy of capture_frames.py."""

from contextlib import closing

from clients.adapters.kafka_python import KafkaPython
from clients.client import Client, Record
from kafka import TopicPartition, TopicPartitionReplica
from support.waiting import eventually

from samsa.wire.apis import ApiKey

ADMIN_APIS = frozenset(
    {
        ApiKey.DELETE_RECORDS,
        ApiKey.DESCRIBE_CONFIGS,
        ApiKey.ALTER_CONFIGS,
        ApiKey.ALTER_REPLICA_LOG_DIRS,
        ApiKey.DESCRIBE_LOG_DIRS,
        ApiKey.CREATE_PARTITIONS,
        ApiKey.ELECT_LEADERS,
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        ApiKey.DESCRIBE_QUORUM,
        ApiKey.DESCRIBE_PRODUCERS,
        ApiKey.LIST_CONFIG_RESOURCES,
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


def ask_about_replicas(bootstrap: str, topic: str) -> None:
    """What means little where there is one node."""
    partition = TopicPartition(topic, 0)
    with closing(KafkaPython(bootstrap).admin()) as admin:
        admin.elect_leaders(0, {topic: [0]}, raise_errors=False)
        admin.alter_partition_reassignments({partition: [0]})
        admin.list_partition_reassignments([partition])
        admin.alter_replica_log_dirs({TopicPartitionReplica(topic, 0, 0): "elsewhere"})
        admin.describe_metadata_quorum()
        admin.list_config_resources()
