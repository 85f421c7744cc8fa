"""Which topic and partition a request means, by name or by id."""

from typing import Any

from samsa.ports import Partition, Topic, Unavailable
from samsa.wire.errors import ErrorCode

from .broker import LEADER_EPOCH, Broker
from .catalog import partition_of
from .configs import Refused


async def topic_of(row: Any, by_id: bool, broker: Broker) -> Topic:
    """Raises Refused. Only Metadata makes topics. A name that no topic can have is unknown too."""
    if not by_id:
        name = row.name if hasattr(row, "name") else row.topic
        named = await broker.catalog.named(name)
        if named is None:
            raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name!r}")
        return named
    topic = await broker.catalog.with_id(row.topic_id)
    if topic is None:
        raise Refused(ErrorCode.UNKNOWN_TOPIC_ID, f"there is no topic with id {row.topic_id}")
    return topic


async def topic_or_refusal(
    row: Any, by_id: bool, broker: Broker, down: ErrorCode
) -> Topic | Refused:
    """Once for all partitions that are asked for; `down` if the ledger does not answer."""
    try:
        return await topic_of(row, by_id, broker)
    except Refused as refused:
        return refused.with_traceback(None)
    except Unavailable as error:
        return Refused(down, str(error))


def partition_in(topic: Topic | Refused, number: int, current_leader_epoch: int) -> Partition:
    """Raises Refused: also for an epoch that never was, since ours never changes."""
    if isinstance(topic, Refused):
        raise topic.with_traceback(None)
    partition = partition_of(topic, number)
    if partition is None:
        raise Refused(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{topic.name} has no partition {number}"
        )
    if current_leader_epoch > LEADER_EPOCH:
        raise Refused(ErrorCode.UNKNOWN_LEADER_EPOCH, "the leader epoch is always 0")
    return partition
