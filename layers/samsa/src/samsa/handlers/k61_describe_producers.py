"""DescribeProducers (key 61).

Behaviour: lists the idempotent producers that a partition remembers, each with the sequence of its
last batch, with that batch's timestamp in the log (−1 once the batch has been deleted), and with
the first offset of the transaction that it has open (−1: none). Coordinators have no epochs. Needs
READ on each topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from samsa.broker.broker import Broker, Context, handles
from samsa.log.producers import ProducerState
from samsa.log.read import OutOfRange
from samsa.ports import Bound, Missing, Partition, Topic, Unavailable, UnknownPartition
from samsa.security.kinds import Operation
from samsa.topics.configs import Refused
from samsa.topics.permitted import need
from samsa.topics.resolve import partition_in, topic_or_refusal
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import describe_producers as wire

ANY_EPOCH = -1
COORDINATOR_EPOCH = 0
"""There is one, as in the markers."""
NOT_KNOWN = -1


@handles(ApiKey.DESCRIBE_PRODUCERS)
async def describe_producers(
    request: wire.DescribeProducersRequest, context: Context, broker: Broker
) -> wire.DescribeProducersResponse:
    needs = need(context.access, Operation.READ)

    async def answer(topic: wire.TopicRequest) -> wire.TopicResponse:
        found = await topic_or_refusal(topic.name, broker, ErrorCode.KAFKA_STORAGE_ERROR, needs)
        numbers = dict.fromkeys(topic.partition_indexes)
        partitions = await broker.work.each(numbers, partial(_answer, found, broker))
        return wire.TOPIC_RESPONSE(name=topic.name, partitions=partitions)

    return wire.RESPONSE(topics=await broker.work.each(request.topics, answer))


async def _answer(topic: Topic | Refused, broker: Broker, number: int) -> wire.PartitionResponse:
    try:
        partition = partition_in(topic, number, ANY_EPOCH)
        head = await broker.log.head(partition)
        found = await broker.stores.ledger.producers(partition, broker.stores.clock.now_ms())
        producers = await _describe_all(partition, found, head.open_transactions, broker)
    except Refused as refused:
        code, message = refused.code, refused.message
    except UnknownPartition:
        code, message = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "the topic was deleted"
    except Unavailable as error:
        code, message = ErrorCode.KAFKA_STORAGE_ERROR, str(error)
    else:
        return wire.PARTITION_RESPONSE(partition_index=number, active_producers=producers)
    return wire.PARTITION_RESPONSE(partition_index=number, error_code=code, error_message=message)


async def _describe_all(
    partition: Partition, found: dict[int, Bound], opened: Mapping[int, int], broker: Broker
) -> list[wire.ProducerState]:
    """A few concurrently: each needs a read of its last batch."""

    async def describe(one: tuple[int, Bound]) -> wire.ProducerState:
        row = await _describe(partition, *one, broker)
        row.current_txn_start_offset = opened.get(row.producer_id, NOT_KNOWN)
        return row

    return await broker.work.some_at_once(list(found.items()), describe)


async def _describe(
    partition: Partition, producer_id: int, bound: Bound, broker: Broker
) -> wire.ProducerState:
    state = ProducerState.of(bound)
    coordinator_epoch = COORDINATOR_EPOCH if state.ended else NOT_KNOWN
    if not state.entries:  # its last batch was a marker, with a new epoch
        return wire.PRODUCER(
            producer_id=producer_id,
            producer_epoch=state.epoch,
            coordinator_epoch=coordinator_epoch,
        )
    last = state.entries[-1]
    try:
        batch = await broker.log.reader.batch_at(partition, last.base)
    except (Missing, OutOfRange):
        batch = None
    timestamp = batch.max_timestamp if batch else NOT_KNOWN
    return wire.PRODUCER(
        producer_id=producer_id,
        producer_epoch=state.epoch,
        last_sequence=last.last,
        last_timestamp=timestamp,
        coordinator_epoch=coordinator_epoch,
    )
