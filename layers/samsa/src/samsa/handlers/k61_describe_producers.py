"""DescribeProducers (key 61).

Behaviour: the idempotent producers that a partition remembers, each with its last batch: its
sequence, and its time as the log has it (−1 once that batch has been deleted). There are no
transactions, and so no coordinator epochs.
"""

import asyncio
from typing import Any

from samsa.log.producers import ProducerState
from samsa.ports import Bound, Missing, Partition, Unavailable, UnknownPartition
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.describe_producers import (
    PARTITION_RESPONSE,
    PRODUCER,
    RESPONSE,
    TOPIC_RESPONSE,
)

from .broker import Broker, Context, handles
from .configs import Refused
from .resolve import partition_in, topic_of

ANY_EPOCH = -1
AT_ONCE = 16
NOT_KNOWN = -1


@handles(ApiKey.DESCRIBE_PRODUCERS)
async def describe_producers(request: Any, context: Context, broker: Broker) -> Any:
    topics = []
    for topic in request.topics:
        partitions = [await _answer(topic, number, broker) for number in topic.partition_indexes]
        topics.append(TOPIC_RESPONSE(name=topic.name, partitions=partitions))
    return RESPONSE(topics=topics)


async def _answer(topic: Any, number: int, broker: Broker) -> Any:
    try:
        partition = partition_in(await topic_of(topic, False, broker), number, ANY_EPOCH)
        found = await broker.stores.ledger.producers(partition, broker.stores.clock.now_ms())
        producers = await _describe_all(partition, found, broker)
    except Refused as refused:
        code, message = refused.code, refused.message
    except UnknownPartition:
        code, message = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "the topic was deleted"
    except Unavailable as error:
        code, message = ErrorCode.KAFKA_STORAGE_ERROR, str(error)
    else:
        return PARTITION_RESPONSE(partition_index=number, active_producers=producers)
    return PARTITION_RESPONSE(partition_index=number, error_code=code, error_message=message)


async def _describe_all(partition: Partition, found: dict[int, Bound], broker: Broker) -> list[Any]:
    """A few side by side: each needs a look at its last batch."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def describe(producer_id: int, bound: Bound) -> Any:
        async with turns:
            return await _describe(partition, producer_id, bound, broker)

    return await asyncio.gather(*(describe(*one) for one in found.items()))


async def _describe(partition: Partition, producer_id: int, bound: Bound, broker: Broker) -> Any:
    state = ProducerState.unpack(bound.state)
    last = state.entries[-1]
    try:
        batch = await broker.log.reader.batch_at(partition, last.base, last.slot)
        # In a slot that was fenced there is filler: the batch was bound and never stored.
        timestamp = batch.max_timestamp if batch.producer_id == producer_id else NOT_KNOWN
    except Missing:
        timestamp = NOT_KNOWN
    return PRODUCER(
        producer_id=producer_id,
        producer_epoch=state.epoch,
        last_sequence=last.last,
        last_timestamp=timestamp,
        coordinator_epoch=NOT_KNOWN,
    )
