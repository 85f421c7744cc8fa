"""OffsetForLeaderEpoch (key 23).

Behaviour: there is one leader epoch, 0, and its end offset is the visible end. For any other epoch
the answer is −1, as in Kafka. Needs DESCRIBE on each topic, or CLUSTER_ACTION on the cluster.
"""

from __future__ import annotations

from functools import partial

from samsa.broker.broker import LEADER_EPOCH, Broker, Context, handles
from samsa.ports import Topic, Unavailable, UnknownPartition
from samsa.security.kinds import Operation
from samsa.topics.configs import Refused
from samsa.topics.permitted import may_quietly, need
from samsa.topics.resolve import partition_in, topic_or_refusal
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import offset_for_leader_epoch as wire


@handles(ApiKey.OFFSET_FOR_LEADER_EPOCH)
async def offset_for_leader_epoch(
    request: wire.OffsetForLeaderEpochRequest, context: Context, broker: Broker
) -> wire.OffsetForLeaderEpochResponse:
    access = context.access
    is_broker = may_quietly(access, Operation.CLUSTER_ACTION)
    needs = None if is_broker else need(access, Operation.DESCRIBE)

    async def answer(topic: wire.OffsetForLeaderTopic) -> wire.OffsetForLeaderTopicResult:
        found = await topic_or_refusal(topic.topic, broker, ErrorCode.KAFKA_STORAGE_ERROR, needs)
        partitions = await broker.work.each(topic.partitions, partial(_answer, found, broker))
        return wire.TOPIC_RESPONSE(topic=topic.topic, partitions=partitions)

    return wire.RESPONSE(topics=await broker.work.each(request.topics, answer))


async def _answer(
    topic: Topic | Refused, broker: Broker, entry: wire.OffsetForLeaderPartition
) -> wire.EpochEndOffset:
    try:
        partition = partition_in(topic, entry.partition, entry.current_leader_epoch)
        head = await broker.log.head(partition)
    except Refused as refused:
        code = refused.code
    except UnknownPartition:
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    except Unavailable:
        code = ErrorCode.KAFKA_STORAGE_ERROR
    else:
        if entry.leader_epoch != LEADER_EPOCH:
            return wire.PARTITION_RESPONSE(partition=entry.partition)
        return wire.PARTITION_RESPONSE(
            partition=entry.partition, leader_epoch=LEADER_EPOCH, end_offset=head.next_offset
        )
    return wire.PARTITION_RESPONSE(partition=entry.partition, error_code=code)
