"""Which topic and partition a request means, by name or by id."""

from typing import Any

from samsa.ports import Partition, Topic
from samsa.wire.errors import ErrorCode

from .broker import LEADER_EPOCH, Broker
from .catalog import partition_of
from .configs import Refused


async def topic_of(row: Any, by_id: bool, broker: Broker, create: bool = False) -> Topic:
    """Raises Refused."""
    if not by_id:
        name = row.name if hasattr(row, "name") else row.topic
        return await broker.catalog.named_or_created(name, create)
    topic = await broker.catalog.with_id(row.topic_id)
    if topic is None:
        raise Refused(ErrorCode.UNKNOWN_TOPIC_ID, f"there is no topic with id {row.topic_id}")
    return topic


def partition_in(topic: Topic, number: int, current_leader_epoch: int) -> Partition:
    """Raises Refused: also for an epoch that never was, since ours never changes."""
    partition = partition_of(topic, number)
    if partition is None:
        raise Refused(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{topic.name} has no partition {number}"
        )
    if current_leader_epoch > LEADER_EPOCH:
        raise Refused(ErrorCode.UNKNOWN_LEADER_EPOCH, "the leader epoch is always 0")
    return partition
