"""ListOffsets (key 2).

Behaviour: timestamp −1 means the visible end; −2 (and −4, the earliest local offset) the log start;
−3 the record with the greatest timestamp; −5 and −6 (tiered storage, which does not exist here) no
offset; any other the first record at or after the timestamp. With read_committed the last stable
offset is the end, and a record that is not below it is not found; transactions that have timed out
are aborted first. Needs DESCRIBE on each topic.

Versions: 0 answers with a list of offsets, newest first, as Kafka 0.8 did. 1+ with one offset. −3
came with 7, −4 with 8, −5 with 9, −6 with 11: in earlier versions they are UNSUPPORTED_VERSION.
"""

from __future__ import annotations

from functools import partial

from samsa.broker.broker import LEADER_EPOCH, Broker, Context, handles
from samsa.data_path.committed_reads import settle_before
from samsa.log.times import Found
from samsa.ports import Missing, Partition, Topic, Unavailable, UnknownPartition
from samsa.records.errors import RecordError
from samsa.security.kinds import Operation
from samsa.topics.configs import Refused
from samsa.topics.permitted import need
from samsa.topics.resolve import partition_in, topic_or_refusal
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import list_offsets as wire

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED = -1, -2, -3, -4, -5
EARLIEST_PENDING_UPLOAD = -6
SINCE = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING_UPLOAD: 11}
HELD_BACK = (LATEST, MAX_TIMESTAMP)
"""Asked for with read_committed, beside times."""
NOT_FOUND = Found(-1, -1)
READ_COMMITTED = 1


@handles(ApiKey.LIST_OFFSETS)
async def list_offsets(
    request: wire.ListOffsetsRequest, context: Context, broker: Broker
) -> wire.ListOffsetsResponse:
    needs = need(context.access, Operation.DESCRIBE)

    async def answer(topic: wire.ListOffsetsTopic) -> wire.ListOffsetsTopicResponse:
        found = await topic_or_refusal(topic.name, broker, ErrorCode.KAFKA_STORAGE_ERROR, needs)
        committed = request.isolation_level == READ_COMMITTED
        each = partial(_answer, found, committed, context, broker)
        partitions = await broker.work.each(topic.partitions, each)
        return wire.TOPIC_RESPONSE(name=topic.name, partitions=partitions)

    return wire.RESPONSE(topics=await broker.work.each(request.topics, answer))


async def _answer(
    topic: Topic | Refused,
    committed: bool,
    context: Context,
    broker: Broker,
    entry: wire.ListOffsetsPartition,
) -> wire.ListOffsetsPartitionResponse:
    try:
        partition = partition_in(topic, entry.partition_index, entry.current_leader_epoch)
        if context.version < SINCE.get(entry.timestamp, 0):
            raise Refused(ErrorCode.UNSUPPORTED_VERSION, "a newer version asks for this")
        if context.version == 0:
            return await _old_style(partition, entry, broker)
        at = await _look_up(partition, entry.timestamp, committed, broker)
    except Refused as refused:
        code = refused.code
    except UnknownPartition:
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    except (Unavailable, Missing):
        code = ErrorCode.KAFKA_STORAGE_ERROR
    except RecordError:
        code = ErrorCode.CORRUPT_MESSAGE
    else:
        return wire.PARTITION_RESPONSE(
            partition_index=entry.partition_index,
            timestamp=at.timestamp,
            offset=at.offset,
            leader_epoch=LEADER_EPOCH if at.offset >= 0 else -1,
        )
    return wire.PARTITION_RESPONSE(partition_index=entry.partition_index, error_code=code)


async def _look_up(partition: Partition, timestamp: int, committed: bool, broker: Broker) -> Found:
    head = None
    if committed and (timestamp >= 0 or timestamp in HELD_BACK):
        head = await settle_before(partition, broker)
    if timestamp >= 0:
        return await broker.log.times.at(partition, timestamp, committed) or NOT_FOUND
    if timestamp == MAX_TIMESTAMP:
        return await broker.log.times.newest(partition, committed) or NOT_FOUND
    if head is None or head.open_transactions:
        head = await broker.log.head(partition)
    if timestamp == LATEST:
        return Found(head.stable_end if committed else head.next_offset, -1)
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        return Found(head.log_start, -1)
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return NOT_FOUND
    raise Refused(ErrorCode.INVALID_REQUEST, f"there is no timestamp {timestamp}")


async def _old_style(
    partition: Partition, entry: wire.ListOffsetsPartition, broker: Broker
) -> wire.ListOffsetsPartitionResponse:
    head = await broker.log.head(partition)
    if entry.timestamp == LATEST:
        offsets = sorted({head.next_offset, head.log_start}, reverse=True)
    else:
        found = await _look_up(partition, entry.timestamp, False, broker)
        offsets = [found.offset if found.offset >= 0 else head.next_offset]
    return wire.PARTITION_RESPONSE(
        partition_index=entry.partition_index,
        old_style_offsets=offsets[: max(0, entry.max_num_offsets)],
    )
