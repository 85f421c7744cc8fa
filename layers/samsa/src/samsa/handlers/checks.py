"""What is checked of one partition's records before they are queued in the log.

What Apache Kafka checks: that the records are records, all of them and nothing else; that they have
keys where the topic is compacted; that no time lies too far ahead. Like Kafka it sets the batch's
greatest timestamp right. Nothing is stored of a batch that fails.
"""

from typing import Any

from samsa.log.layout import Batch
from samsa.ports import Topic
from samsa.records.batch import set_newest, stamp, validate
from samsa.records.compression import CODEC_MASK, Codec, decompress_into
from samsa.records.errors import (
    CorruptBatch,
    InvalidRecord,
    RecordError,
    TooLarge,
    UnsupportedCodec,
)
from samsa.records.header import HEADER_SIZE, LOG_APPEND_TIME, BatchHeader
from samsa.records.legacy import is_legacy, to_batch
from samsa.records.unpack import ROOM, SMALL, Making, Rooms, kept, unpacked
from samsa.records.walk import Walked, walk
from samsa.wire.errors import ErrorCode

from .compacted import WithoutKeys, is_compacted
from .configs import Refused, number
from .topic_configs import TOPIC_CONFIGS

FIRST_WITH_BATCHES = 3
CODEC_AT = 22
"""The second byte of a batch's attributes."""
PRODUCERS_TIME = -1
NO_TIMESTAMP = -1
LARGEST_TIME = 1 << 62
"""No time in a batch is further from 1970, nor from the batch's first: sums of two stay within 64
bits."""
MAX_MESSAGE_BYTES = int(TOPIC_CONFIGS["max.message.bytes"].default)
AFTER_MAX_MS = int(TOPIC_CONFIGS["message.timestamp.after.max.ms"].default)

CODES: dict[type[RecordError], ErrorCode] = {
    CorruptBatch: ErrorCode.CORRUPT_MESSAGE,
    TooLarge: ErrorCode.MESSAGE_TOO_LARGE,
    InvalidRecord: ErrorCode.INVALID_RECORD,
    UnsupportedCodec: ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
}


def checked(
    records: Any, topic: Topic, index: int, version: int, now_ms: int, limit: int, rooms: Rooms
) -> Making[Batch]:
    """The batch as it may be stored. Raises Refused and RecordError.

    `limit`: bytes that compressed records may unpack to.
    """
    if not records:
        raise InvalidRecord("there are no records")
    most = number(topic, "max.message.bytes") if topic.configs else MAX_MESSAGE_BYTES
    data: memoryview = records
    if version < FIRST_WITH_BATCHES:
        if not is_legacy(records):
            raise InvalidRecord("a v2 batch needs Produce v3 or newer")
        data = memoryview(bytearray((yield from to_batch(records, most, limit))))
    if len(data) > most:
        raise Refused(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"{len(data)} bytes are more than max.message.bytes={most} of {topic.name}",
        )
    header = validate(data)
    if header.is_transactional:
        raise Refused(ErrorCode.INVALID_TXN_STATE, "transactions are not supported")
    needs_keys = bool(topic.configs) and is_compacted(topic)
    walked = yield from _walked(header, data[HEADER_SIZE:], needs_keys, limit, rooms)
    if walked.keyless:
        raise WithoutKeys(topic, index, walked.keyless)
    return _timed(Batch(header, data), walked, topic, now_ms)


def _walked(
    header: BatchHeader, packed: memoryview, keys: bool, limit: int, rooms: Rooms
) -> Making[Walked]:
    if header.codec is Codec.NONE:
        return (yield from walk(header.count, bytes(packed), keys))
    if limit >= ROOM:
        found = yield from _walked_in_a_room(header, packed, keys, rooms)
        if found is not None:
            return found
    try:
        plain = yield from unpacked(header.codec, packed, limit)
    except TooLarge:
        raise
    except CorruptBatch as error:
        # The checksum is right, so nothing happened on the way: to send it again is no use.
        raise InvalidRecord(str(error)) from None
    return (yield from walk(header.count, plain, keys))


def _walked_in_a_room(
    header: BatchHeader, packed: memoryview, keys: bool, rooms: Rooms
) -> Making[Walked | None]:
    """None if they do not unpack to one."""
    if len(packed) <= SMALL or header.codec not in (Codec.LZ4, Codec.ZSTD):
        return None
    data = kept(packed)
    yield ROOM
    room = rooms.take()
    try:
        size = decompress_into(header.codec, data, room)
        return None if size is None else (yield from walk(header.count, room, keys, size))
    finally:
        rooms.give(room)


def takes_long(records: memoryview) -> bool:
    """Whether they will surely be checked off the event loop."""
    return len(records) > HEADER_SIZE + SMALL and bool(records[CODEC_AT] & CODEC_MASK)


def gives_time(topic: Topic) -> bool:
    """Whether records have the broker's time, and not their producer's."""
    return topic.configs.get("message.timestamp.type", "").strip() == "LogAppendTime"


def _timed(batch: Batch, walked: Walked, topic: Topic, now_ms: int) -> Batch:
    header, data = batch
    base = header.base_timestamp
    if not -LARGEST_TIME < base < LARGEST_TIME:
        raise _bad_time(f"{base} is no time")
    if topic.configs and gives_time(topic):
        if header.log_append_time:
            raise _bad_time("only the broker sets LogAppendTime")
        return Batch(stamp(data, 0, now_ms), data)
    newest = base + walked.newest
    if newest < NO_TIMESTAMP:
        newest = NO_TIMESTAMP
    after_ms = number(topic, "message.timestamp.after.max.ms") if topic.configs else AFTER_MAX_MS
    if newest > now_ms + after_ms:
        raise _bad_time(f"{newest} is more than {after_ms} ms ahead")
    if newest == header.max_timestamp and not header.attributes & LOG_APPEND_TIME:
        return batch
    return Batch(set_newest(data, 0, newest), data)


def _bad_time(why: str) -> Refused:
    return Refused(ErrorCode.INVALID_TIMESTAMP, f"One or more records have been rejected: {why}")
