"""OffsetCommit (key 8).

Behaviour: a group's members commit for the generation that they are in, and a fenced one is
refused; who is no member may commit while the group is empty. Partitions are answered one by one,
and those that can be stored are stored together: one read of the group, one write.

Versions: 0 names no member. 2-4 may say how long the offsets are to be kept. 9+ tell a group that
is unknown from a generation that has passed. 10 names topics by id.
"""

from typing import Any

from samsa.groups import ConsumerGroup, Group, may_commit
from samsa.ports import Committed, Offsets, Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.offset_commit import PARTITION_RESPONSE, RESPONSE, TOPIC_RESPONSE

from .broker import Broker, Context, handles
from .catalog import partition_of
from .configs import Refused
from .group_errors import UNAVAILABLE, code_of
from .resolve import topic_of

FIRST_WITH_IDS = 10
FIRST_OF_CONSUMER_PROTOCOL = FIRST_WITH_NOT_FOUND = 9
DEFAULT_RETENTION = -1


@handles(ApiKey.OFFSET_COMMIT)
async def offset_commit(request: Any, context: Context, broker: Broker) -> Any:
    offsets: Offsets = {}
    topics = [await _topic(topic, request, context, broker, offsets) for topic in request.topics]
    code = await _commit(request, context, broker, offsets) if offsets else ErrorCode.NONE
    for topic in topics:
        for partition in topic.partitions:
            partition.error_code = partition.error_code or code
    return RESPONSE(topics=topics)


async def _topic(
    asked: Any, request: Any, context: Context, broker: Broker, offsets: Offsets
) -> Any:
    """The answer for one topic, as far as it is known; what can be stored goes to `offsets`."""
    by_id = context.version >= FIRST_WITH_IDS
    answer = TOPIC_RESPONSE(name=asked.name, topic_id=asked.topic_id)
    try:
        topic = await topic_of(asked, by_id, broker)
    except Refused as refused:
        refusal = refused.code if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    except Unavailable:
        refusal = UNAVAILABLE
    else:
        for entry in asked.partitions:
            code = ErrorCode.NONE
            if partition_of(topic, entry.partition_index) is None:
                code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            elif _too_large(entry.committed_metadata, broker):
                code = ErrorCode.OFFSET_METADATA_TOO_LARGE
            else:
                offsets[topic.name, entry.partition_index] = _committed(entry, request, broker)
            answer.partitions.append(_answered(entry, code))
        return answer
    answer.partitions = [_answered(entry, refusal) for entry in asked.partitions]
    return answer


def _answered(entry: Any, code: ErrorCode) -> Any:
    return PARTITION_RESPONSE(partition_index=entry.partition_index, error_code=code)


def _too_large(metadata: str | None, broker: Broker) -> bool:
    # Kafka's limit is called one of bytes, and counts characters.
    return len(metadata or "") > broker.rules.offset_metadata_max_bytes


def _committed(entry: Any, request: Any, broker: Broker) -> Committed:
    now = broker.stores.clock.now_ms()
    kept_for = request.retention_time_ms
    return Committed(
        offset=entry.committed_offset,
        leader_epoch=entry.committed_leader_epoch,
        metadata=entry.committed_metadata or "",
        committed_at=now,
        expires_at=0 if kept_for == DEFAULT_RETENTION else now + max(kept_for, 1),
    )


async def _commit(request: Any, context: Context, broker: Broker, offsets: Offsets) -> ErrorCode:
    try:
        code = await _why_not(request, context, broker)
        if code:
            return code
        if await _store(request, broker, offsets):
            return ErrorCode.NONE
        return await _overtaken(request, context, broker, offsets)
    except Unavailable:
        return UNAVAILABLE


async def _why_not(request: Any, context: Context, broker: Broker) -> ErrorCode:
    group, _ = await broker.coordinator.look(request.group_id)
    generation = request.generation_id_or_member_epoch
    if group is None and generation >= 0 and context.version >= FIRST_WITH_NOT_FOUND:
        return ErrorCode.GROUP_ID_NOT_FOUND
    if context.version < FIRST_OF_CONSUMER_PROTOCOL and _speaks_consumer_protocol(request, group):
        return ErrorCode.UNSUPPORTED_VERSION
    return code_of(
        may_commit(
            group,
            request.member_id,
            request.group_instance_id,
            generation,
            broker.stores.clock.now_ms(),
        )
    )


def _speaks_consumer_protocol(request: Any, group: Group | None) -> bool:
    if not isinstance(group, ConsumerGroup):
        return False
    member = group.members.get(request.member_id)
    return member is not None and member.classic is None


async def _store(request: Any, broker: Broker, offsets: Offsets) -> bool:
    groups, generation = broker.coordinator.groups, request.generation_id_or_member_epoch
    generation = max(generation, -1)
    return await broker.stores.insist(groups.commit, request.group_id, generation, offsets)


async def _overtaken(request: Any, context: Context, broker: Broker, offsets: Offsets) -> ErrorCode:
    """A newer generation has committed since the group was looked at. If there is none, it was one
    of a group of the same name that was deleted: a commit that came late, and no obstacle."""
    code = await _why_not(request, context, broker)
    if code:
        return code
    await broker.coordinator.groups.delete_offsets(request.group_id, list(offsets))
    return (
        ErrorCode.NONE if await _store(request, broker, offsets) else ErrorCode.ILLEGAL_GENERATION
    )
