"""What clients say when they administer, for the proxy of capture_frames.py."""

from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from clients.adapters.kafka_python import KafkaPython
from clients.client import Client, Record
from clients.kafka_tools import KafkaTools
from kafka import KafkaAdminClient, TopicPartition, TopicPartitionReplica
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)
from kafka.errors import (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    KafkaError,
    NotCoordinatorError,
)
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

SECURITY_APIS = frozenset(
    {
        ApiKey.SASL_HANDSHAKE,
        ApiKey.DESCRIBE_ACLS,
        ApiKey.CREATE_ACLS,
        ApiKey.DELETE_ACLS,
        ApiKey.SASL_AUTHENTICATE,
        ApiKey.DESCRIBE_CLIENT_QUOTAS,
        ApiKey.ALTER_CLIENT_QUOTAS,
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
        ApiKey.DESCRIBE_TRANSACTIONS,
        ApiKey.LIST_TRANSACTIONS,
    }
)
USER, PASSWORD = "gregor", "metamorphosis"


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


def ask_about_security(bootstrap: str) -> None:
    """Of a broker that has none: most of it is refused."""
    may_read = (f"User:{USER}", "*", ACLOperation.READ, ACLPermissionType.ALLOW)
    topic = (ResourceType.TOPIC, "golden", ACLResourcePatternType.LITERAL)
    given = ACL(*may_read, ResourcePattern(*topic))
    wanted = ACLFilter(*may_read, ResourcePatternFilter(*topic))
    with closing(KafkaPython(bootstrap).admin()) as admin:
        questions: tuple[Callable[[], object], ...] = (
            lambda: admin.describe_acls(wanted),
            lambda: admin.create_acls([given]),
            lambda: admin.delete_acls([wanted]),
            lambda: admin.describe_user_scram_credentials([USER]),
            lambda: admin.list_transactions(),
        )
        for ask in questions:
            with suppress(KafkaError):
                ask()
        # Apache Kafka makes its topic of transactions first.
        assert eventually(lambda: _knows_transactions(admin))


def _knows_transactions(admin: KafkaAdminClient) -> bool:
    try:
        admin.describe_transactions(["golden"])
    except (CoordinatorNotAvailableError, NotCoordinatorError, CoordinatorLoadInProgressError):
        return False
    except KafkaError:
        return True
    return True


def ask_about_quotas(bootstrap: str, log: Path) -> None:
    """By Kafka's own tool, in Java."""
    credential = f"SCRAM-SHA-256=[iterations=4096,password={PASSWORD}]"
    with closing(KafkaTools(log.open("w"))) as tools:
        user = ("--entity-type", "users", "--entity-name", USER)
        tools.run("configs", bootstrap, "--describe", *user)
        tools.run("configs", bootstrap, "--alter", *user, "--add-config", credential)
        for change in ("--add-config=producer_byte_rate=1048576", "--delete-config=nonsense"):
            tools.run("configs", bootstrap, "--alter", *user, *change.split("=", 1))


def say_who_asks(bootstrap: str) -> None:
    sasl = {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": USER,
        "sasl_plain_password": PASSWORD,
    }
    with closing(KafkaPython(bootstrap, **sasl).admin()) as admin:
        admin.describe_cluster()
