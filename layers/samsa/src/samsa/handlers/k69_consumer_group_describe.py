"""ConsumerGroupDescribe (key 69): groups of the consumer protocol. Others are not found."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from samsa.broker.broker import Broker, Context, handles
from samsa.coordinator.assigned import by_topic
from samsa.coordinator.group_errors import UNAVAILABLE
from samsa.groups import ConsumerDescribed, DescribedConsumer, consumer_described
from samsa.ports import Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.consumer_group_describe import (
    ASSIGNMENT,
    GROUP,
    MEMBER,
    RESPONSE,
    TOPIC_PARTITIONS,
)

if TYPE_CHECKING:
    from samsa.wire.messages.consumer_group_describe import (
        Assignment,
        ConsumerGroupDescribeRequest,
        ConsumerGroupDescribeResponse,
        DescribedGroup,
        Member,
    )

CLASSIC, CONSUMER = 0, 1


@handles(ApiKey.CONSUMER_GROUP_DESCRIBE)
async def consumer_group_describe(
    request: ConsumerGroupDescribeRequest, context: Context, broker: Broker
) -> ConsumerGroupDescribeResponse:
    asked = dict.fromkeys(request.group_ids)
    return RESPONSE(groups=[await _group(each, broker) async for each in broker.work.pace(asked)])


async def _group(group_id: str, broker: Broker) -> DescribedGroup:
    if not group_id:
        return GROUP(group_id=group_id, error_code=ErrorCode.INVALID_GROUP_ID)
    try:
        group, _ = await broker.coordinator.look(group_id)
    except Unavailable as error:
        return GROUP(group_id=group_id, error_code=UNAVAILABLE, error_message=str(error))
    if group is None:
        return _not_found(group_id, f"Group {group_id} not found.")
    now, settings = broker.stores.clock.now_ms(), broker.coordinator.settings
    seen = consumer_described(group, now, settings)
    if seen is None:
        return _not_found(group_id, f"Group {group_id} is not a consumer group.")
    return await _shown(group_id, seen, broker)


def _not_found(group_id: str, message: str) -> DescribedGroup:
    return GROUP(group_id=group_id, error_code=ErrorCode.GROUP_ID_NOT_FOUND, error_message=message)


async def _shown(group_id: str, seen: ConsumerDescribed, broker: Broker) -> DescribedGroup:
    names = {info.id: name for name, info in seen.topics.items()}
    return GROUP(
        group_id=group_id,
        group_state=seen.state,
        group_epoch=seen.epoch,
        assignment_epoch=seen.assignment_epoch,
        assignor_name=seen.assignor,
        members=[await _member(member, names, broker) for member in seen.members],
    )


async def _member(member: DescribedConsumer, names: dict[UUID, str], broker: Broker) -> Member:
    return MEMBER(
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
) -> Assignment:
    """Partitions of a deleted topic are left out: its name is not known any more."""
    topics = await by_topic(partitions, broker.work)
    return ASSIGNMENT(
        topic_partitions=[
            TOPIC_PARTITIONS(topic_id=topic_id, topic_name=names[topic_id], partitions=numbers)
            for topic_id, numbers in topics
            if topic_id in names
        ]
    )
