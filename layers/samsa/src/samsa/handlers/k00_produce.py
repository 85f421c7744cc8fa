"""Produce (key 0).

Behaviour: every partition is appended on its own and answers on its own; one bad batch never spoils
its neighbours. acks=0 gets no reply at all. acks=1 and acks=-1 mean the same: stored. The request
is checked and queued before the next one of its connection is looked at, so that order of requests
is order in the log; its answer comes when the log's does. Where a topic has LogAppendTime, a batch
gets the broker's time as it comes.

Versions: 0-2 carry message sets, converted to a v2 batch on the way in. 3+ carry RecordBatch v2 and
are stored as they came. 13 names topics by id.
"""

import asyncio
from typing import Any, NamedTuple

from samsa.log.admit import Outcome, Refusal
from samsa.log.layout import Batch
from samsa.log.writer import Appending
from samsa.ports import Partition, Topic, Unavailable, UnknownPartition
from samsa.records.batch import BatchHeader, stamp, validate
from samsa.records.errors import CorruptBatch, InvalidRecord, RecordError, UnsupportedCodec
from samsa.records.legacy import is_legacy, to_batch
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.produce import (
    PARTITION_RESPONSE,
    RECORD_ERROR,
    RESPONSE,
    TOPIC_RESPONSE,
)

from .broker import Broker, Context, Later, handles
from .catalog import partition_of
from .compacted import WithoutKeys, check_keys
from .configs import Refused, number
from .internal import refuse_internal
from .resolve import topic_of

ACKS = (-1, 0, 1)
LOG_APPEND_TIME = "LogAppendTime"
PRODUCERS_TIME = -1
FIRST_WITH_BATCHES = 3
FIRST_BY_ID = 13

_REFUSALS = {
    Refusal.OUT_OF_ORDER: ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    Refusal.STALE_EPOCH: ErrorCode.INVALID_PRODUCER_EPOCH,
    Refusal.UNKNOWN_PRODUCER: ErrorCode.UNKNOWN_PRODUCER_ID,
    Refusal.TRY_AGAIN: ErrorCode.REQUEST_TIMED_OUT,
}
_RECORD_ERRORS: dict[type[RecordError], ErrorCode] = {
    CorruptBatch: ErrorCode.CORRUPT_MESSAGE,
    InvalidRecord: ErrorCode.INVALID_RECORD,
    UnsupportedCodec: ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
}


class Pending(NamedTuple):
    """One partition of a request: under way, or refused."""

    topic: Any
    number: int
    result: Appending | Refused
    appended_at: int
    """Its time, if that is the broker's to give, else −1."""


@handles(ApiKey.PRODUCE)
async def produce(request: Any, context: Context, broker: Broker) -> Later:
    now = asyncio.get_running_loop().time
    deadline = now() + request.timeout_ms / 1000 if request.timeout_ms > 0 else None
    pending: list[Pending] = []
    by_id = context.version >= FIRST_BY_ID
    for topic in request.topic_data:
        found: Topic | Refused | None = broker.catalog.remembered(
            topic.topic_id if by_id else topic.name
        )
        if found is None:
            found = await _topic(topic, by_id, broker, deadline)
        appended_at = _append_time(found, broker)
        for entry in topic.partition_data:
            result = _begin(request, entry, found, appended_at, context, broker)
            pending.append(Pending(topic, entry.index, result, appended_at))
    under_way = [p.result for p in pending if isinstance(p.result, Appending)]
    left_s = None if deadline is None else max(0.0, deadline - now())
    return Later(lambda: _response(request, pending), under_way, left_s)


async def _topic(
    topic: Any, by_id: bool, broker: Broker, deadline: float | None
) -> Topic | Refused:
    try:
        async with asyncio.timeout_at(deadline):
            return await topic_of(topic, by_id, broker, create=True)
    except Refused as refused:
        return refused.with_traceback(None)  # which would hold on to the request's memory
    except (Unavailable, TimeoutError) as error:
        # Queued it keeps its place. Refused it would leave a gap before the next request.
        key = topic.topic_id if by_id else topic.name
        return broker.catalog.last_seen(key) or Refused(ErrorCode.REQUEST_TIMED_OUT, str(error))


def _append_time(topic: Topic | Refused, broker: Broker) -> int:
    if isinstance(topic, Refused) or not topic.configs:
        return PRODUCERS_TIME
    kind = topic.configs.get("message.timestamp.type", "").strip()
    return broker.stores.clock.now_ms() if kind == LOG_APPEND_TIME else PRODUCERS_TIME


def _begin(
    request: Any,
    entry: Any,
    topic: Topic | Refused,
    appended_at: int,
    context: Context,
    broker: Broker,
) -> Appending | Refused:
    if isinstance(topic, Refused):
        return topic
    try:
        partition = _partition(request, topic, entry.index)
        batch = _batch(entry.records, topic, context, broker)
        if topic.configs:
            check_keys(topic, entry.index, *batch, broker.rules.max_decompressed_bytes)
        if appended_at != PRODUCERS_TIME:
            batch = batch._replace(header=stamp(batch.data, 0, appended_at))
        return broker.log.append(partition, batch)
    except Refused as refused:
        return refused.with_traceback(None)  # which would hold on to the request's memory
    except RecordError as error:
        return Refused(_RECORD_ERRORS[type(error)], str(error))


def _partition(request: Any, topic: Topic, index: int) -> Partition:
    if request.acks not in ACKS:
        raise Refused(ErrorCode.INVALID_REQUIRED_ACKS, f"acks is -1, 0 or 1, not {request.acks}")
    partition = partition_of(topic, index)
    if partition is None:
        raise Refused(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{topic.name} has no partition {index}"
        )
    refuse_internal(topic)
    return partition


def _batch(records: Any, topic: Topic, context: Context, broker: Broker) -> Batch:
    if not records:
        raise InvalidRecord("there are no records")
    data: memoryview = records
    if context.version < FIRST_WITH_BATCHES:
        if not is_legacy(records):
            raise InvalidRecord("a v2 batch needs Produce v3 or newer")
        data = memoryview(bytearray(to_batch(records, broker.rules.max_decompressed_bytes)))
    _check_size(data, topic)
    headers = validate(data)
    if len(headers) != 1:
        raise InvalidRecord("a produce request has exactly one batch for a partition")
    return Batch(_plain(headers[0]), data)


def _check_size(data: memoryview, topic: Topic) -> None:
    most = number(topic, "max.message.bytes")
    if len(data) > most:
        raise Refused(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"{len(data)} bytes are more than max.message.bytes={most} of {topic.name}",
        )


def _plain(header: BatchHeader) -> BatchHeader:
    if header.is_transactional:
        raise Refused(ErrorCode.INVALID_TXN_STATE, "transactions are not supported")
    return header


def _response(request: Any, pending: list[Pending]) -> Any:
    if request.acks == 0:
        return None
    topics: list[Any] = []
    last: Any = None
    for one in pending:
        if one.topic is not last:
            last = one.topic
            topics.append(TOPIC_RESPONSE(name=last.name, topic_id=last.topic_id))
            topics[-1].partition_responses = []
        topics[-1].partition_responses.append(_partition_response(one))
    return RESPONSE(responses=topics)


def _partition_response(one: Pending) -> Any:
    outcome = _result(one.result)
    if isinstance(outcome, Refused):
        return PARTITION_RESPONSE(
            index=one.number,
            error_code=outcome.code,
            base_offset=-1,
            # Java's producer takes −1 for "ask again", and would, until its time is up; on any
            # other start it begins a new epoch.
            log_start_offset=0 if outcome.code is ErrorCode.UNKNOWN_PRODUCER_ID else -1,
            error_message=outcome.message,
            record_errors=[
                RECORD_ERROR(batch_index=at, batch_index_error_message=why)
                for at, why in _refused_records(outcome)
            ],
        )
    return PARTITION_RESPONSE(
        index=one.number,
        base_offset=outcome.offset,
        log_append_time_ms=one.appended_at,
        log_start_offset=outcome.log_start,
    )


def _refused_records(refused: Refused) -> list[tuple[int, str]]:
    return refused.records if isinstance(refused, WithoutKeys) else []


def _result(result: Appending | Refused) -> Outcome | Refused:
    if isinstance(result, Refused):
        return result
    if not result.done():
        return Refused(ErrorCode.REQUEST_TIMED_OUT, "the store is slow; the outcome is not known")
    error = result.exception()
    if isinstance(error, UnknownPartition):
        return Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "the topic was deleted")
    if isinstance(error, Unavailable):
        return Refused(ErrorCode.REQUEST_TIMED_OUT, f"the store did not answer: {error}")
    if error is not None:
        raise error
    outcome = result.result()
    if outcome.refusal is not None:
        return Refused(_REFUSALS[outcome.refusal], outcome.refusal.value)
    return outcome
