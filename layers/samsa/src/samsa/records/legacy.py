"""Message sets of magic 0 and 1, which clients before Kafka 0.11 write and read.

Only they pay for them: what they send becomes one RecordBatch v2, and what they fetch is turned
back into an uncompressed message set. Record headers have no place there and are dropped.
"""

import struct
import zlib
from collections.abc import Iterator

from samsa.records.bounded import Buffer
from samsa.records.header import LOG_APPEND_TIME, headers
from samsa.records.messages import unwrapped
from samsa.records.record import DEFAULT_LIMIT, Record, build, records

MAGIC_POSITION = 16

_FRAME = struct.Struct(">qiI")
_HEAD = struct.Struct(">bb")
_HEAD_WITH_TIMESTAMP = struct.Struct(">bbq")
_LENGTH = struct.Struct(">i")


def is_legacy(buffer: Buffer) -> bool:
    return len(buffer) > MAGIC_POSITION and buffer[MAGIC_POSITION] in (0, 1)


def to_batch(message_set: Buffer, limit: int = DEFAULT_LIMIT) -> bytes:
    """One uncompressed batch of every message, with offsets from 0 on.

    Compressed messages may unpack to at most `limit` bytes, all together.
    """
    found = unwrapped(memoryview(message_set), limit)
    return build(
        Record(offset, message.timestamp, _copy(message.key), _copy(message.value))
        for offset, message in enumerate(found)
    )


def from_batches(
    batches: Buffer,
    magic: int,
    start_offset: int,
    max_bytes: int | None = None,
    limit: int = DEFAULT_LIMIT,
) -> bytes:
    """An uncompressed message set of the records from an offset on.

    It is cut at `max_bytes`, inside a message if need be: clients of that age expect it, and take
    a set that is smaller than one message as a sign to ask for more.
    """
    converted = bytearray()
    for message in _converted(batches, magic, start_offset, limit):
        converted += message
        if max_bytes is not None and len(converted) >= max_bytes:
            return bytes(converted[:max_bytes])
    return bytes(converted)


def _converted(batches: Buffer, magic: int, start_offset: int, limit: int) -> Iterator[bytes]:
    for position, header in headers(batches):
        if header.is_control or header.next_offset <= start_offset:
            continue
        attributes = header.attributes & LOG_APPEND_TIME if magic else 0
        for record in records(batches, position, limit):
            if record.offset >= start_offset:
                yield _message(record, magic, attributes)


def _message(record: Record, magic: int, attributes: int) -> bytes:
    head = (
        _HEAD_WITH_TIMESTAMP.pack(magic, attributes, record.timestamp)
        if magic
        else _HEAD.pack(magic, attributes)
    )
    body = b"".join((head, *_nullable(record.key), *_nullable(record.value)))
    return _FRAME.pack(record.offset, 4 + len(body), zlib.crc32(body)) + body


def _nullable(data: bytes | None) -> tuple[bytes, bytes]:
    return (_LENGTH.pack(-1), b"") if data is None else (_LENGTH.pack(len(data)), data)


def _copy(view: memoryview | None) -> bytes | None:
    return None if view is None else bytes(view)
