"""ConsumerGroupDescribe (key 69): groups of the consumer protocol. Others are not found.

Behaviour: needs DESCRIBE on each group. As in Kafka, a group whose members have partitions of a
topic that the client may not DESCRIBE is not shown at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.assigned import by_topic
from samsa.coordinator.group_errors import UNAVAILABLE
from samsa.groups import ConsumerDescribed, DescribedConsumer, consumer_described
from samsa.ports import Unavailable
from samsa.security.kinds import Operation
from samsa.topics.permitted import may_group, may_topic, on_group
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import consumer_group_describe as wire

if TYPE_CHECKING:
    from samsa.security.access import Access

CLASSIC, CONSUMER = 0, 1
WITH_HIDDEN_TOPICS = (
    "The group has described topic(s) that the client is not authorized to describe."
)


@handles(ApiKey.CONSUMER_GROUP_DESCRIBE)
async def consumer_group_describe(
    request: wire.ConsumerGroupDescribeRequest, context: Context, broker: Broker
) -> wire.ConsumerGroupDescribeResponse:
    asked = dict.fromkeys(request.group_ids)
    access = context.access
    groups = [await _group(each, access, broker) async for each in broker.work.pace(asked)]
    if request.include_authorized_operations:
        async for group in broker.work.pace(groups):
            if not group.error_code:
                group.authorized_operations = on_group(access, group.group_id)
    return wire.RESPONSE(groups=groups)


async def _group(group_id: str, access: Access, broker: Broker) -> wire.DescribedGroup:
    may = may_group(access, Operation.DESCRIBE, group_id)
    if not may or not group_id:
        code = ErrorCode.INVALID_GROUP_ID if may else ErrorCode.GROUP_AUTHORIZATION_FAILED
        return wire.GROUP(group_id=group_id, error_code=code)
    try:
        group, _ = await broker.coordinator.look(group_id)
    except Unavailable as error:
        return wire.GROUP(group_id=group_id, error_code=UNAVAILABLE, error_message=str(error))
    if group is None:
        return _not_found(group_id, f"Group {group_id} not found.")
    now, settings = broker.stores.clock.now_ms(), broker.coordinator.settings
    seen = consumer_described(group, now, settings)
    if seen is None:
        return _not_found(group_id, f"Group {group_id} is not a consumer group.")
    shown = await _shown(group_id, seen, broker)
    if access.is_limited and not await _may_be_shown(shown, access, broker):
        code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        return wire.GROUP(group_id=group_id, error_code=code, error_message=WITH_HIDDEN_TOPICS)
    return shown


async def _may_be_shown(group: wire.DescribedGroup, access: Access, broker: Broker) -> bool:
    names = {
        topic.topic_name
        async for member in broker.work.pace(group.members)
        for assignment in (member.assignment, member.target_assignment)
        for topic in assignment.topic_partitions
    }
    async for name in broker.work.pace(names):
        if not may_topic(access, Operation.DESCRIBE, name):
            return False
    return True


def _not_found(group_id: str, message: str) -> wire.DescribedGroup:
    return wire.GROUP(
        group_id=group_id, error_code=ErrorCode.GROUP_ID_NOT_FOUND, error_message=message
    )


async def _shown(group_id: str, seen: ConsumerDescribed, broker: Broker) -> wire.DescribedGroup:
    names = {info.id: name for name, info in seen.topics.items()}
    return wire.GROUP(
        group_id=group_id,
        group_state=seen.state,
        group_epoch=seen.epoch,
        assignment_epoch=seen.assignment_epoch,
        assignor_name=seen.assignor,
        members=[await _member(member, names, broker) for member in seen.members],
    )


async def _member(member: DescribedConsumer, names: dict[UUID, str], broker: Broker) -> wire.Member:
    return wire.MEMBER(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=list(member.topics),
        subscribed_topic_regex=member.pattern or None,
        assignment=await _assignment(member.assigned, names, broker),
        target_assignment=await _assignment(member.target, names, broker),
        member_type=CLASSIC if member.is_classic else CONSUMER,
    )


async def _assignment(
    partitions: frozenset[tuple[UUID, int]], names: dict[UUID, str], broker: Broker
) -> wire.Assignment:
    """Partitions of a deleted topic are left out: its name is not known any more."""
    topics = await by_topic(partitions, broker.work)
    return wire.ASSIGNMENT(
        topic_partitions=[
            wire.TOPIC_PARTITIONS(topic_id=topic_id, topic_name=names[topic_id], partitions=numbers)
            for topic_id, numbers in topics
            if topic_id in names
        ]
    )
