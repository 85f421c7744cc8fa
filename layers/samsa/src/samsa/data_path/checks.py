"""Checks of one partition's records, before they are queued in the log.

The checks are those of Apache Kafka: all records can be parsed and no bytes are left over; they
have keys if the topic is compacted; no timestamp is too far in the future. Like Kafka, it corrects
the batch's greatest timestamp. If a batch fails, nothing of it is stored.
"""

from typing import NamedTuple

from samsa.broker.unpacking import Long, Unpacking, briefly
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
from samsa.topics.compacted import WithoutKeys, is_compacted
from samsa.topics.configs import Refused, number
from samsa.topics.topic_configs import TOPIC_CONFIGS
from samsa.wire.errors import ErrorCode

FIRST_WITH_BATCHES = 3
CODEC_AT = 22
"""The second byte of a batch's attributes."""
PRODUCERS_TIME = -1
NO_TIMESTAMP = -1
LARGEST_TIME = 1 << 62
"""Limit of a batch's timestamps, counted from 1970 or from the batch's first: so the sum of two
fits into 64 bits."""
MAX_MESSAGE_BYTES = int(TOPIC_CONFIGS["max.message.bytes"].default)
AFTER_MAX_MS = int(TOPIC_CONFIGS["message.timestamp.after.max.ms"].default)

CODES: dict[type[RecordError], ErrorCode] = {
    CorruptBatch: ErrorCode.CORRUPT_MESSAGE,
    TooLarge: ErrorCode.MESSAGE_TOO_LARGE,
    InvalidRecord: ErrorCode.INVALID_RECORD,
    UnsupportedCodec: ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
}


class Wanted(NamedTuple):
    """What one partition's records are checked against."""

    topic: Topic
    partition: int
    version: int
    """Of the request."""
    now_ms: int
    limit: int
    """Bytes that compressed records may unpack to."""


def check(records: memoryview | None, wanted: Wanted, memory: Unpacking) -> Batch | Long[Batch]:
    """The batch as it may be stored. Raises Refused and RecordError."""
    if not records:
        raise InvalidRecord("there are no records")
    if wanted.version < FIRST_WITH_BATCHES:
        return briefly(_converted(records, wanted, memory.rooms))
    header = _admitted(records, wanted.topic)
    if header.attributes & CODEC_MASK:
        return briefly(_unpacked(header, records, wanted, memory.rooms))
    plain, count = bytes(records[HEADER_SIZE:]), header.count
    needs_keys = _needs_keys(wanted.topic)
    newest = None if needs_keys else memory.shapes.newest(count, plain)
    if newest is not None:
        return _timed(newest, header, records, wanted)
    walked = briefly(walk(count, plain, needs_keys))
    if isinstance(walked, Long):
        return Long(_finished(walked.steps, header, records, wanted), walked.makes)
    memory.shapes.learn(count, plain)
    return _done(walked, header, records, wanted)


def _admitted(data: memoryview, topic: Topic) -> BatchHeader:
    most = number(topic, "max.message.bytes") if topic.configs else MAX_MESSAGE_BYTES
    if len(data) > most:
        raise Refused(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"{len(data)} bytes are more than max.message.bytes={most} of {topic.name}",
        )
    return validate(data)


def _needs_keys(topic: Topic) -> bool:
    return bool(topic.configs) and is_compacted(topic)


def _finished(
    steps: Making[Walked], header: BatchHeader, data: memoryview, wanted: Wanted
) -> Making[Batch]:
    return _done((yield from steps), header, data, wanted)


def _converted(records: memoryview, wanted: Wanted, rooms: Rooms) -> Making[Batch]:
    if not is_legacy(records):
        raise InvalidRecord("a v2 batch needs Produce v3 or newer")
    topic = wanted.topic
    most = number(topic, "max.message.bytes") if topic.configs else MAX_MESSAGE_BYTES
    data = memoryview(bytearray((yield from to_batch(records, most, wanted.limit))))
    header = _admitted(data, topic)
    if header.attributes & CODEC_MASK:
        return (yield from _unpacked(header, data, wanted, rooms))
    steps = walk(header.count, bytes(data[HEADER_SIZE:]), _needs_keys(topic))
    return (yield from _finished(steps, header, data, wanted))


def _unpacked(header: BatchHeader, data: memoryview, wanted: Wanted, rooms: Rooms) -> Making[Batch]:
    packed, keys = data[HEADER_SIZE:], _needs_keys(wanted.topic)
    walked = None
    if wanted.limit >= ROOM:
        walked = yield from _walked_in_a_room(header, packed, keys, rooms)
    if walked is None:
        try:
            plain = yield from unpacked(header.codec, packed, wanted.limit)
        except TooLarge:
            raise
        except CorruptBatch as error:
            # The checksum is right, so the bytes are as they were sent: a retry would not help.
            raise InvalidRecord(str(error)) from None
        walked = yield from walk(header.count, plain, keys)
    return _done(walked, header, data, wanted)


def _walked_in_a_room(
    header: BatchHeader, packed: memoryview, keys: bool, rooms: Rooms
) -> Making[Walked | None]:
    """Walk the records in a reused buffer of 4 MiB. None if they do not fit, if they are small, or
    if the codec cannot unpack into a buffer."""
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
    """Whether the records will certainly be checked off the event loop."""
    return len(records) > HEADER_SIZE + SMALL and bool(records[CODEC_AT] & CODEC_MASK)


def gives_time(topic: Topic) -> bool:
    """Whether records get the broker's time instead of their producer's."""
    return topic.configs.get("message.timestamp.type", "").strip() == "LogAppendTime"


def _done(walked: Walked, header: BatchHeader, data: memoryview, wanted: Wanted) -> Batch:
    if walked.keyless:
        raise WithoutKeys(wanted.topic, wanted.partition, walked.keyless)
    return _timed(walked.newest, header, data, wanted)


def _timed(newest: int, header: BatchHeader, data: memoryview, wanted: Wanted) -> Batch:
    """`newest`: the greatest of the records' timestamps, as a delta to the batch's base."""
    topic = wanted.topic
    base = header.base_timestamp
    if not -LARGEST_TIME < base < LARGEST_TIME:
        raise _bad_time(f"{base} is no time")
    after_ms = AFTER_MAX_MS
    if topic.configs:
        if gives_time(topic):
            if header.log_append_time:
                raise _bad_time("only the broker sets LogAppendTime")
            return Batch(stamp(data, 0, wanted.now_ms), data)
        after_ms = number(topic, "message.timestamp.after.max.ms")
    newest += base
    if newest < NO_TIMESTAMP:
        newest = NO_TIMESTAMP
    if newest > wanted.now_ms + after_ms:
        raise _bad_time(f"{newest} is more than {after_ms} ms ahead")
    if newest == header.max_timestamp and not header.attributes & LOG_APPEND_TIME:
        return Batch(header, data)
    return Batch(set_newest(data, 0, newest), data)


def _bad_time(why: str) -> Refused:
    return Refused(ErrorCode.INVALID_TIMESTAMP, f"One or more records have been rejected: {why}")
