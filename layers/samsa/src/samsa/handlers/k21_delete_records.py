"""DeleteRecords (key 21).

Behaviour: a partition's log starts at the given offset from now on, or at its visible end for −1. A
start never goes back, and nothing that is not visible can be deleted. Index and objects follow:
what log_start has passed is gone for every reader at once, and gone from the stores after a grace
time. A batch that the start lies in stays whole; clients skip what is below.
"""

import asyncio
from typing import Any

from samsa.log.read import OutOfRange
from samsa.ports import Partition, Unavailable, UnknownPartition
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.delete_records import PARTITION_RESPONSE, RESPONSE, TOPIC_RESPONSE

from .broker import Broker, Context, handles
from .configs import Refused
from .internal import refuse_internal
from .resolve import partition_in, topic_of

NOT_MOVED = -1
ANY_EPOCH = -1


@handles(ApiKey.DELETE_RECORDS)
async def delete_records(request: Any, context: Context, broker: Broker) -> Any:
    deadline = asyncio.get_running_loop().time() + max(0, request.timeout_ms) / 1000
    topics = []
    for topic in request.topics:
        partitions = [await _delete(topic, entry, deadline, broker) for entry in topic.partitions]
        topics.append(TOPIC_RESPONSE(name=topic.name, partitions=partitions))
    return RESPONSE(topics=topics)


async def _delete(topic: Any, entry: Any, deadline: float, broker: Broker) -> Any:
    start, code = NOT_MOVED, ErrorCode.NONE
    try:
        found = await topic_of(topic, False, broker)
        partition = partition_in(found, entry.partition_index, ANY_EPOCH)
        refuse_internal(found)
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
    """Once begun it is finished, whether or not anyone still waits for the answer."""
    work = broker.log.retainer.delete_before(partition, offset)
    moving = broker.log.background.start(work, OutOfRange)
    async with asyncio.timeout_at(deadline):
        return await asyncio.shield(moving)
