"""DeleteRecords (key 21).

Behaviour: moves a partition's log start to the given offset, or to its visible end for −1. The log
start never goes back, and records that are not visible cannot be deleted. Records below the log
start are gone for every reader at once, and from index and stores after a grace time. If the log
start lies within a batch, the batch stays whole; clients skip the records below. Needs DELETE on
each topic.

As in Kafka, the request's timeout does not cancel the move itself: Kafka waits that long for
replicas, and there are none here. A store gets `PATIENCE_S` at least.
"""

from __future__ import annotations

import asyncio
from functools import partial

from samsa.broker.broker import Broker, Context, handles
from samsa.log.read import OutOfRange
from samsa.ports import Partition, Topic, Unavailable, UnknownPartition
from samsa.security.kinds import Operation
from samsa.topics.configs import Refused
from samsa.topics.internal import refuse_internal
from samsa.topics.permitted import need
from samsa.topics.resolve import partition_in, topic_or_refusal
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import delete_records as wire

NOT_MOVED = -1
PATIENCE_S = 2.0
"""The shortest wait for the store, even if the request's timeout is less."""
ANY_EPOCH = -1


@handles(ApiKey.DELETE_RECORDS)
async def delete_records(
    request: wire.DeleteRecordsRequest, context: Context, broker: Broker
) -> wire.DeleteRecordsResponse:
    patience_s = max(PATIENCE_S, request.timeout_ms / 1000)
    deadline = asyncio.get_running_loop().time() + patience_s

    needs = need(context.access, Operation.DELETE)

    async def answer(topic: wire.DeleteRecordsTopic) -> wire.DeleteRecordsTopicResult:
        found = await topic_or_refusal(topic.name, broker, ErrorCode.REQUEST_TIMED_OUT, needs)
        partitions = await broker.work.each(
            topic.partitions, partial(_delete, found, deadline, broker)
        )
        return wire.TOPIC_RESPONSE(name=topic.name, partitions=partitions)

    return wire.RESPONSE(topics=await broker.work.each(request.topics, answer))


async def _delete(
    topic: Topic | Refused, deadline: float, broker: Broker, entry: wire.DeleteRecordsPartition
) -> wire.DeleteRecordsPartitionResult:
    start, code = NOT_MOVED, ErrorCode.NONE
    try:
        partition = partition_in(topic, entry.partition_index, ANY_EPOCH)
        assert isinstance(topic, Topic)
        refuse_internal(topic)
        start = await _move(partition, entry.offset, deadline, broker)
    except Refused as refused:
        code = refused.code
    except OutOfRange:
        code = ErrorCode.OFFSET_OUT_OF_RANGE
    except UnknownPartition:
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    except (Unavailable, TimeoutError):
        code = ErrorCode.REQUEST_TIMED_OUT
    return wire.PARTITION_RESPONSE(
        partition_index=entry.partition_index, low_watermark=start, error_code=code
    )


async def _move(partition: Partition, offset: int, deadline: float, broker: Broker) -> int:
    """Once begun, the move is finished, even if the client does not wait for the answer any more.

    Raises OutOfRange, TimeoutError.
    """
    work = broker.log.retainer.delete_before(partition, offset)
    moving = broker.log.background.start(work, OutOfRange)
    left_s = max(0.0, deadline - asyncio.get_running_loop().time())
    # Not `shield` within a timeout: that would lose an error that comes just as the time is over.
    await asyncio.wait([moving], timeout=left_s)
    if not moving.done():
        raise TimeoutError
    return moving.result()
