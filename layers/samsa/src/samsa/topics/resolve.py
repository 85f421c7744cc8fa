"""Which topic and partition a request means, by name or by id."""

from collections.abc import Mapping
from uuid import UUID

from samsa.broker.broker import LEADER_EPOCH, Broker
from samsa.ports import Partition, Topic, Unavailable
from samsa.security.access import Access
from samsa.security.kinds import Operation, ResourceType
from samsa.wire.errors import ErrorCode

from .catalog import partition_of
from .configs import Refused
from .permitted import Need, may_quietly, raise_unless_may


async def topic_of(key: str | UUID, broker: Broker, need: Need | None = None) -> Topic:
    """Raises Refused. Only Metadata creates topics. An invalid name counts as unknown.

    A name that the client may not use is refused whether or not there is such a topic. An id tells
    nothing, so an unknown one is unknown to all."""
    if isinstance(key, str):
        if need is not None:
            need.raise_unless_met(key)
        named = await broker.catalog.named(key)
        if named is None:
            raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {key!r}")
        return named
    topic = await broker.catalog.with_id(key)
    if topic is None:
        raise Refused(ErrorCode.UNKNOWN_TOPIC_ID, f"there is no topic with id {key}")
    if need is not None:
        need.raise_unless_met(topic.name)
    return topic


async def topic_or_new(
    name: str,
    create: bool,
    access: Access,
    broker: Broker,
    listed: Mapping[str, Topic] | None = None,
) -> Topic:
    """The topic; if there is none, one that is created with the defaults. `listed` is all topics by
    name, if the caller has them. Needs DESCRIBE, and to create CREATE on the cluster or on the
    topic. Raises Refused."""
    raise_unless_may(access, Operation.DESCRIBE, ResourceType.TOPIC, name)
    found = listed.get(name) if listed is not None else None
    if found is not None:
        return found
    is_new = listed is not None
    if access.is_limited and create and broker.rules.auto_create_topics:
        found = None if is_new else await broker.catalog.named(name)
        if found is not None:
            return found
        is_new = True
        if not may_quietly(access, Operation.CREATE):
            raise_unless_may(access, Operation.CREATE, ResourceType.TOPIC, name)
    return await broker.catalog.named_or_created(name, create, is_new)


async def topic_or_refusal(
    key: str | UUID, broker: Broker, down: ErrorCode, need: Need | None = None
) -> Topic | Refused:
    """One lookup for all partitions of a topic. The error is `down` if the ledger is down."""
    try:
        return await topic_of(key, broker, need)
    except Refused as refused:
        return refused.with_traceback(None)
    except Unavailable as error:
        return Refused(down, str(error))


def partition_in(topic: Topic | Refused, number: int, current_leader_epoch: int) -> Partition:
    """Raises Refused; also for any leader epoch but ours, which never changes."""
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
