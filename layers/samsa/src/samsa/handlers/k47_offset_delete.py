"""OffsetDelete (key 47).

Behaviour: deletes offsets of topics to which no member of the group subscribes. Deleting an offset
that was never committed is no error. Needs DELETE on the group, and READ on each topic.
"""

from __future__ import annotations

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.group_errors import UNAVAILABLE, code_of
from samsa.groups import Group, may_delete
from samsa.ports import Unavailable
from samsa.security.kinds import Operation
from samsa.topics.catalog import partition_of
from samsa.topics.permitted import may_group, may_topic
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import offset_delete as wire

AT_ONCE = 1_000
"""Offsets that are deleted by one write."""
FINAL = (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.NON_EMPTY_GROUP)
"""Errors that refuse the whole request."""


@handles(ApiKey.OFFSET_DELETE)
async def offset_delete(
    request: wire.OffsetDeleteRequest, context: Context, broker: Broker
) -> wire.OffsetDeleteResponse:
    if not may_group(context.access, Operation.DELETE, request.group_id):
        return wire.RESPONSE(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    groups, now = broker.coordinator.groups, broker.stores.clock.now_ms()
    try:
        group, _ = await broker.coordinator.look(request.group_id)
        known = group is not None or bool(await groups.offsets(request.group_id, now))
        asked = broker.work.pace(request.topics)
        topics = [await _topic(each, group, known, now, context, broker) async for each in asked]
        for code in FINAL:
            async for topic in broker.work.pace(topics):
                if any(p.error_code == code for p in topic.partitions):
                    return wire.RESPONSE(error_code=code)
        if not known:
            return wire.RESPONSE(error_code=ErrorCode.GROUP_ID_NOT_FOUND)
        granted = _granted(topics)
        for start in range(0, len(granted), AT_ONCE):
            some = granted[start : start + AT_ONCE]
            await broker.stores.retry(groups.delete_offsets, request.group_id, some)
            if len(granted) > AT_ONCE:
                await broker.work.give_way()
    except Unavailable:
        return wire.RESPONSE(error_code=UNAVAILABLE)
    return wire.RESPONSE(topics=topics)


async def _topic(
    asked: wire.OffsetDeleteRequestTopic,
    group: Group | None,
    known: bool,
    now: int,
    context: Context,
    broker: Broker,
) -> wire.OffsetDeleteResponseTopic:
    if not may_topic(context.access, Operation.READ, asked.name):
        return await _forbidden(asked, broker)
    topic = await broker.catalog.named(asked.name)
    refused = may_delete(group, asked.name, now) if group is not None or not known else None
    rows = []
    async for partition in broker.work.pace(asked.partitions):
        code = code_of(refused)
        if topic is None or partition_of(topic, partition.partition_index) is None:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        rows.append(
            wire.PARTITION_RESPONSE(partition_index=partition.partition_index, error_code=code)
        )
    return wire.TOPIC_RESPONSE(name=asked.name, partitions=rows)


async def _forbidden(
    asked: wire.OffsetDeleteRequestTopic, broker: Broker
) -> wire.OffsetDeleteResponseTopic:
    code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    rows = [
        wire.PARTITION_RESPONSE(partition_index=one.partition_index, error_code=code)
        async for one in broker.work.pace(asked.partitions)
    ]
    return wire.TOPIC_RESPONSE(name=asked.name, partitions=rows)


def _granted(topics: list[wire.OffsetDeleteResponseTopic]) -> list[tuple[str, int]]:
    return [
        (topic.name, partition.partition_index)
        for topic in topics
        for partition in topic.partitions
        if partition.error_code == ErrorCode.NONE
    ]
