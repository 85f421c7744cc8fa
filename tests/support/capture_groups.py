"""What clients say in groups and about them, for capture_frames.py."""

import time
from pathlib import Path

from clients.client import Record
from clients.members import KINDS, Member
from clients.registry import MAKERS

from samsa.wire.apis import ApiKey

GROUP_APIS = frozenset(
    {
        ApiKey.OFFSET_COMMIT,
        ApiKey.OFFSET_FETCH,
        ApiKey.FIND_COORDINATOR,
        ApiKey.JOIN_GROUP,
        ApiKey.HEARTBEAT,
        ApiKey.LEAVE_GROUP,
        ApiKey.SYNC_GROUP,
        ApiKey.DESCRIBE_GROUPS,
        ApiKey.LIST_GROUPS,
        ApiKey.DELETE_GROUPS,
        ApiKey.OFFSET_DELETE,
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        ApiKey.CONSUMER_GROUP_DESCRIBE,
    }
)
CLIENTS = {
    "confluent": ("confluent", "confluent-next"),
    "kafka-python": ("kafka-python",),
    "aiokafka": ("aiokafka",),
    "kcat": ("kcat",),
    "java": ("java", "java-next"),
    "franz-go": ("franz-go", "franz-go-next"),
    "sarama": ("sarama",),
    "kafkajs": ("kafkajs",),
}
LONG_ENOUGH_S = 7.0
"""For a heartbeat of each member, and for an automatic commit."""


def read_in_groups(bootstrap: str, logs: Path, kinds: tuple[str, ...], topic: str) -> None:
    """Two members of each kind, so that one of them follows."""
    MAKERS["confluent"](bootstrap, logs / "maker").produce(topic, [Record(None, b"value")])
    members = [
        KINDS[kind].start(bootstrap, f"golden-{kind}", topic, logs / kind)
        for kind in kinds
        for _ in range(2)
    ]
    time.sleep(LONG_ENOUGH_S)
    for member in members:
        leave(member)


def leave(member: Member) -> None:
    assert member.runs, f"a member ended by itself; see {member.log.name}"
    member.leave()


def ask_about_groups(bootstrap: str, group: str, topic: str) -> None:
    """The group is the one of a client that has left, so it is empty."""
    from confluent_kafka.admin import AdminClient
    from kafka import KafkaAdminClient, TopicPartition

    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.list_consumer_groups().result(10)
    admin.describe_consumer_groups([group])[group].result(10)
    other = KafkaAdminClient(bootstrap_servers=bootstrap)
    other.list_groups()
    other.describe_groups([group])
    other.delete_group_offsets(group, [TopicPartition(topic, 0)])
    other.close()
    admin.delete_consumer_groups([group])[group].result(10)
