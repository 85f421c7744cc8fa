"""DeleteRecords (key 21).

Behaviour: a partition's log starts at the given offset from now on, or at its visible end for −1. A
start never goes back, and nothing that is not visible can be deleted. Index and objects follow:
what log_start has passed is gone for every reader at once, and gone from the stores after a grace
time. A batch that the start lies in stays whole; clients skip what is below.

As with Kafka, the request's timeout does not cut the move itself short: Kafka waits that long for
replicas, and there are none here. A store gets `PATIENCE_S` at least.
"""

import asyncio
from functools import partial
from typing import Any

from samsa.log.read import OutOfRange
from samsa.ports import Partition, Topic, Unavailable, UnknownPartition
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.delete_records import PARTITION_RESPONSE, RESPONSE, TOPIC_RESPONSE

from .broker import Broker, Context, handles
from .configs import Refused
from .internal import refuse_internal
from .resolve import partition_in, topic_or_refusal

NOT_MOVED = -1
PATIENCE_S = 2.0
"""For the store, however little time a request gives."""
ANY_EPOCH = -1


@handles(ApiKey.DELETE_RECORDS)
async def delete_records(request: Any, context: Context, broker: Broker) -> Any:
    patience_s = max(PATIENCE_S, request.timeout_ms / 1000)
    deadline = asyncio.get_running_loop().time() + patience_s

    async def answer(topic: Any) -> Any:
        found = await topic_or_refusal(topic, False, broker, ErrorCode.REQUEST_TIMED_OUT)
        partitions = await broker.work.each(
            topic.partitions, partial(_delete, found, deadline, broker)
        )
        return TOPIC_RESPONSE(name=topic.name, partitions=partitions)

    return RESPONSE(topics=await broker.work.each(request.topics, answer))


async def _delete(topic: Topic | Refused, deadline: float, broker: Broker, entry: Any) -> Any:
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
    return PARTITION_RESPONSE(
        partition_index=entry.partition_index, low_watermark=start, error_code=code
    )


async def _move(partition: Partition, offset: int, deadline: float, broker: Broker) -> int:
    """Once begun it is finished, whether or not anyone still waits for the answer.

    Raises OutOfRange, TimeoutError.
    """
    work = broker.log.retainer.delete_before(partition, offset)
    moving = broker.log.background.start(work, OutOfRange)
    left_s = max(0.0, deadline - asyncio.get_running_loop().time())
    # Not a shield under a timeout: an error that comes as the time is up would be lost in it.
    await asyncio.wait([moving], timeout=left_s)
    if not moving.done():
        raise TimeoutError
    return moving.result()
