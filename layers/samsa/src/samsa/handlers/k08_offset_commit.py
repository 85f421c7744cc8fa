"""OffsetCommit (key 8).

Behaviour: members commit for their current generation; a fenced member is refused. A non-member may
commit while the group is empty. Each partition has its own result, and all that can be stored are
stored together: one read of the group, one write. Needs READ on the group and on each topic.

Versions: 0 names no member. 2-4 may say how long the offsets are kept. 9+ distinguish an unknown
group from an old generation. 10 names topics by id.
"""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.group_errors import UNAVAILABLE, code_of
from samsa.coordinator.offsets import committed, refusal
from samsa.groups import ConsumerGroup, Group, may_commit
from samsa.ports import Offsets, Unavailable
from samsa.ports.bounds import LONGEST_GROUP_ID
from samsa.security.kinds import Operation
from samsa.topics.configs import Refused
from samsa.topics.permitted import may_group, need
from samsa.topics.resolve import topic_of
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import offset_commit as wire

FIRST_WITH_IDS = 10
FIRST_OF_CONSUMER_PROTOCOL = FIRST_WITH_NOT_FOUND = 9
AT_ONCE = 1_000
"""Offsets that are stored by one write. If a longer request fails, some of its offsets may be
stored and others not. The client gets the error; a retry stores the same offsets again."""


@handles(ApiKey.OFFSET_COMMIT)
async def offset_commit(
    request: wire.OffsetCommitRequest, context: Context, broker: Broker
) -> wire.OffsetCommitResponse:
    offsets: Offsets = {}
    if not may_group(context.access, Operation.READ, request.group_id):
        return _refused(request, ErrorCode.GROUP_AUTHORIZATION_FAILED)
    if len(request.group_id) > LONGEST_GROUP_ID:
        return _refused(request, ErrorCode.INVALID_GROUP_ID)
    asked = broker.work.pace(request.topics)
    topics = [await _topic(topic, request, context, broker, offsets) async for topic in asked]
    code = await _commit(request, context, broker, offsets) if offsets else ErrorCode.NONE
    async for topic in broker.work.pace(topics if code else ()):
        for partition in topic.partitions:
            partition.error_code = partition.error_code or code
    return wire.RESPONSE(topics=topics)


def _refused(request: wire.OffsetCommitRequest, code: ErrorCode) -> wire.OffsetCommitResponse:
    topics = [
        wire.TOPIC_RESPONSE(
            name=topic.name,
            topic_id=topic.topic_id,
            partitions=[_answered(entry, code) for entry in topic.partitions],
        )
        for topic in request.topics
    ]
    return wire.RESPONSE(topics=topics)


async def _topic(
    asked: wire.OffsetCommitRequestTopic,
    request: wire.OffsetCommitRequest,
    context: Context,
    broker: Broker,
    offsets: Offsets,
) -> wire.OffsetCommitResponseTopic:
    """The answer for one topic, as far as it is known; offsets to store are added to `offsets`."""
    by_id = context.version >= FIRST_WITH_IDS
    answer = wire.TOPIC_RESPONSE(name=asked.name, topic_id=asked.topic_id)
    try:
        key = asked.topic_id if by_id else asked.name
        topic = await topic_of(key, broker, need(context.access, Operation.READ))
    except Refused as refused:
        why = refused.code
    except Unavailable:
        why = UNAVAILABLE
    else:
        async for entry in broker.work.pace(asked.partitions):
            code = refusal(topic, entry, broker)
            if not code:
                where = topic.name, entry.partition_index
                offsets[where] = committed(entry, broker, request.retention_time_ms)
            answer.partitions.append(_answered(entry, code))
        return answer
    entries = broker.work.pace(asked.partitions)
    answer.partitions = [_answered(entry, why) async for entry in entries]
    return answer


def _answered(
    entry: wire.OffsetCommitRequestPartition, code: ErrorCode
) -> wire.OffsetCommitResponsePartition:
    return wire.PARTITION_RESPONSE(partition_index=entry.partition_index, error_code=code)


async def _commit(
    request: wire.OffsetCommitRequest, context: Context, broker: Broker, offsets: Offsets
) -> ErrorCode:
    try:
        code = await _why_not(request, context, broker)
        if not code and not broker.group_totals.knows(request.group_id):
            code = await broker.group_totals.why_not(request.group_id)
        if code:
            return code
        everything = list(offsets.items())
        for start in range(0, len(everything), AT_ONCE):
            part = dict(everything[start : start + AT_ONCE])
            if not await _store(request, broker, part):
                code = await _overtaken(request, context, broker, part)
            if code:
                return code
            if len(everything) > AT_ONCE:
                await broker.work.give_way()
    except Unavailable:
        return UNAVAILABLE
    return ErrorCode.NONE


async def _why_not(
    request: wire.OffsetCommitRequest, context: Context, broker: Broker
) -> ErrorCode:
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


def _speaks_consumer_protocol(request: wire.OffsetCommitRequest, group: Group | None) -> bool:
    if not isinstance(group, ConsumerGroup):
        return False
    member = group.members.get(request.member_id)
    return member is not None and member.classic is None


async def _store(request: wire.OffsetCommitRequest, broker: Broker, offsets: Offsets) -> bool:
    groups, generation = broker.coordinator.groups, request.generation_id_or_member_epoch
    generation = max(generation, -1)
    return await broker.stores.retry(groups.commit, request.group_id, generation, offsets)


async def _overtaken(
    request: wire.OffsetCommitRequest, context: Context, broker: Broker, offsets: Offsets
) -> ErrorCode:
    """A newer generation has committed since the group was read. If the group still allows this
    commit, that was a late commit of a deleted group of the same name: delete it, and store."""
    code = await _why_not(request, context, broker)
    if code:
        return code
    await broker.coordinator.groups.delete_offsets(request.group_id, list(offsets))
    return (
        ErrorCode.NONE if await _store(request, broker, offsets) else ErrorCode.ILLEGAL_GENERATION
    )
