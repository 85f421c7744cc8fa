"""One partition's batch of a produce request: checked, and queued in the log."""

from typing import Any, NamedTuple

from samsa.log.layout import Batch
from samsa.log.writer import Appending
from samsa.ports import Partition, Topic
from samsa.records.batch import stamp, validate
from samsa.records.errors import CorruptBatch, InvalidRecord, RecordError, UnsupportedCodec
from samsa.records.legacy import is_legacy, to_batch
from samsa.wire.errors import ErrorCode

from .broker import Broker
from .catalog import partition_of
from .compacted import check_keys
from .configs import Refused, number
from .internal import refuse_internal
from .topic_configs import TOPIC_CONFIGS

ACKS = (-1, 0, 1)
LOG_APPEND_TIME = "LogAppendTime"
PRODUCERS_TIME = -1
MAX_MESSAGE_BYTES = int(TOPIC_CONFIGS["max.message.bytes"].default)
FIRST_WITH_BATCHES = 3

_RECORD_ERRORS: dict[type[RecordError], ErrorCode] = {
    CorruptBatch: ErrorCode.CORRUPT_MESSAGE,
    InvalidRecord: ErrorCode.INVALID_RECORD,
    UnsupportedCodec: ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
}


class Terms(NamedTuple):
    """What a request says of all its batches."""

    version: int
    acks: int


class Pending(NamedTuple):
    """One partition of a request: under way, or refused."""

    topic: Any
    """The request's row."""
    number: int
    result: Appending | Refused
    appended_at: int
    """Its time, if that is the broker's to give, else −1."""


def begin(
    row: Any, index: int, records: Any, topic: Topic | Refused, terms: Terms, broker: Broker
) -> Pending:
    if isinstance(topic, Refused):
        return Pending(row, index, topic, PRODUCERS_TIME)
    appended_at = _append_time(topic, broker) if topic.configs else PRODUCERS_TIME
    result: Appending | Refused
    try:
        partition = _partition(topic, index, terms.acks)
        batch = _batch(records, topic, terms.version, broker)
        if topic.configs:
            check_keys(topic, index, *batch, broker.rules.max_decompressed_bytes)
        if appended_at != PRODUCERS_TIME:
            batch = batch._replace(header=stamp(batch.data, 0, appended_at))
        result = broker.log.append(partition, batch)
    except Refused as refused:
        result = refused.with_traceback(None)  # which would hold on to the request's memory
    except RecordError as error:
        result = Refused(_RECORD_ERRORS[type(error)], str(error))
    return Pending(row, index, result, appended_at)


def _append_time(topic: Topic, broker: Broker) -> int:
    kind = topic.configs.get("message.timestamp.type", "").strip()
    return broker.stores.clock.now_ms() if kind == LOG_APPEND_TIME else PRODUCERS_TIME


def _partition(topic: Topic, index: int, acks: int) -> Partition:
    if acks not in ACKS:
        raise Refused(ErrorCode.INVALID_REQUIRED_ACKS, f"acks is -1, 0 or 1, not {acks}")
    partition = partition_of(topic, index)
    if partition is None:
        raise Refused(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{topic.name} has no partition {index}"
        )
    refuse_internal(topic)
    return partition


def _batch(records: Any, topic: Topic, version: int, broker: Broker) -> Batch:
    if not records:
        raise InvalidRecord("there are no records")
    data: memoryview = records
    if version < FIRST_WITH_BATCHES:
        if not is_legacy(records):
            raise InvalidRecord("a v2 batch needs Produce v3 or newer")
        data = memoryview(bytearray(to_batch(records, broker.rules.max_decompressed_bytes)))
    _check_size(data, topic)
    header = validate(data)
    if header.is_transactional:
        raise Refused(ErrorCode.INVALID_TXN_STATE, "transactions are not supported")
    return Batch(header, data)


def _check_size(data: memoryview, topic: Topic) -> None:
    most = number(topic, "max.message.bytes") if topic.configs else MAX_MESSAGE_BYTES
    if len(data) > most:
        raise Refused(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"{len(data)} bytes are more than max.message.bytes={most} of {topic.name}",
        )
