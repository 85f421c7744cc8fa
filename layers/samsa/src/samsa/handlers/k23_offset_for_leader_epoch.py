"""OffsetForLeaderEpoch (key 23).

Behaviour: there is one leader epoch, 0, and it reaches to the visible end. An epoch that has not
been answers −1, as Kafka does.
"""

from functools import partial
from typing import Any

from samsa.ports import Topic, Unavailable, UnknownPartition
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.offset_for_leader_epoch import (
    PARTITION_RESPONSE,
    RESPONSE,
    TOPIC_RESPONSE,
)

from .broker import LEADER_EPOCH, Broker, Context, handles
from .configs import Refused
from .resolve import partition_in, topic_or_refusal


@handles(ApiKey.OFFSET_FOR_LEADER_EPOCH)
async def offset_for_leader_epoch(request: Any, context: Context, broker: Broker) -> Any:
    async def answer(topic: Any) -> Any:
        found = await topic_or_refusal(topic, False, broker, ErrorCode.KAFKA_STORAGE_ERROR)
        partitions = await broker.work.each(topic.partitions, partial(_answer, found, broker))
        return TOPIC_RESPONSE(topic=topic.topic, partitions=partitions)

    return RESPONSE(topics=await broker.work.each(request.topics, answer))


async def _answer(topic: Topic | Refused, broker: Broker, entry: Any) -> Any:
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
            return PARTITION_RESPONSE(partition=entry.partition)
        return PARTITION_RESPONSE(
            partition=entry.partition, leader_epoch=LEADER_EPOCH, end_offset=head.next_offset
        )
    return PARTITION_RESPONSE(partition=entry.partition, error_code=code)
