"""DescribeTopicPartitions (key 75).

Behaviour: lists topics in the order of their names, a page at a time. A page holds as many
partitions as the client asks for, at most 2,000; the cursor says where the next page starts. No
names mean all topics. A topic that does not exist gets its own error. Needs DESCRIBE on each topic:
one that is named without that gets TOPIC_AUTHORIZATION_FAILED, and a list of all leaves it out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from samsa.broker.broker import LEADER_EPOCH, Broker, Context, handles
from samsa.broker.nodes import Nodes
from samsa.ports import Topic
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.configs import Refused, check_name
from samsa.topics.internal import INTERNAL
from samsa.topics.permitted import is_visible, may_topic, on_topic
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import describe_topic_partitions as wire

if TYPE_CHECKING:
    from samsa.security.access import Access

MOST_AT_ONCE = 2_000


@handles(ApiKey.DESCRIBE_TOPIC_PARTITIONS)
async def describe_topic_partitions(
    request: wire.DescribeTopicPartitionsRequest, context: Context, broker: Broker
) -> wire.DescribeTopicPartitionsResponse:
    response, access = wire.RESPONSE(), context.access
    left = min(max(1, request.response_partition_limit), MOST_AT_ONCE)
    async for name, topic in broker.work.pace(await _topics(request, broker)):
        first = _first(name, request.cursor)
        if access.is_limited and not _may_describe(name, request, access):
            if request.topics:
                code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
                response.topics.append(wire.TOPIC_RESPONSE(name=name, error_code=code))
            continue
        if topic is None:
            response.topics.append(_unknown(name, access))
            continue
        if left == 0:
            response.next_cursor = wire.CURSOR(topic_name=name, partition_index=first)
            break
        last = min(topic.partitions, first + left)
        response.topics.append(_described(topic, range(first, last), broker.nodes, access))
        left -= max(0, last - first)
        if last < topic.partitions:
            response.next_cursor = wire.CURSOR(topic_name=name, partition_index=last)
            break
    return response


async def _topics(
    request: wire.DescribeTopicPartitionsRequest, broker: Broker
) -> Iterable[tuple[str, Topic | None]]:
    """The topics from the cursor on."""
    everything = {topic.name: topic for topic in await broker.catalog.all()}
    names = {topic.name for topic in request.topics} or set(everything)
    start = request.cursor.topic_name if request.cursor is not None else ""
    return [(name, everything.get(name)) for name in sorted(names) if name >= start]


def _first(name: str, cursor: wire.Cursor | None) -> int:
    if cursor is None or cursor.topic_name != name:
        return 0
    return max(0, cursor.partition_index)


def _may_describe(name: str, request: wire.DescribeTopicPartitionsRequest, access: Access) -> bool:
    if request.topics:
        return may_topic(access, Operation.DESCRIBE, name)
    return is_visible(access, Operation.DESCRIBE, ResourceType.TOPIC, name)


def _unknown(name: str, access: Access) -> wire.DescribeTopicPartitionsResponseTopic:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    try:
        check_name(name)
    except Refused as refused:
        code = refused.code
    return wire.TOPIC_RESPONSE(
        name=name,
        error_code=code,
        is_internal=name in INTERNAL,
        topic_authorized_operations=on_topic(access, name),
    )


def _described(
    topic: Topic, numbers: range, nodes: Nodes, access: Access
) -> wire.DescribeTopicPartitionsResponseTopic:
    partitions = [
        wire.PARTITION_RESPONSE(
            partition_index=number,
            leader_id=choice.leader,
            leader_epoch=LEADER_EPOCH,
            replica_nodes=list(choice.replicas),
            isr_nodes=list(choice.replicas),
            eligible_leader_replicas=[],
            last_known_elr=[],
        )
        for number, choice in zip(numbers, nodes.choices(topic.id, numbers), strict=True)
    ]
    return wire.TOPIC_RESPONSE(
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.name in INTERNAL,
        partitions=partitions,
        topic_authorized_operations=on_topic(access, topic.name),
    )
