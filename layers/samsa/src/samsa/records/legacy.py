"""Message sets of magic 0 and 1, which clients before Kafka 0.11 write and read.

Conversion happens only for these clients: a message set that they send becomes one RecordBatch v2,
and what they fetch becomes an uncompressed message set. Record headers have no place there and are
dropped.

Both conversions work in small slices and stop at their limit: a few kilobytes may unpack to
millions of messages.
"""

import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from samsa.records.bounded import Buffer
from samsa.records.encode import Payload
from samsa.records.errors import CorruptBatch, TooLarge
from samsa.records.header import HEADER_SIZE, LOG_APPEND_TIME, BatchHeader, read_header
from samsa.records.messages import unwrapped
from samsa.records.parse import Record, parse
from samsa.records.record import sealed
from samsa.records.spans import skip
from samsa.records.unpack import COPIES, Making, unpacked

MAGIC_POSITION = 16
SLICE = 128
"""Records: about half a millisecond of work."""
LARGEST = 16 * 1024 * 1024
"""Bytes of a message: it is copied a few times during conversion."""
SHRINKS = 5
"""How many times longer a message may be than its record: an empty one takes 34 bytes, and 7 as a
record."""

_FRAME = struct.Struct(">qiI")
_HEAD = struct.Struct(">bb")
_HEAD_WITH_TIMESTAMP = struct.Struct(">bbq")
_LENGTH = struct.Struct(">i")


class WantedMessages(NamedTuple):
    """What a client asks for."""

    magic: int
    offset: int
    max_bytes: int
    cut: bool
    """Whether the last message may be incomplete, as the oldest clients expect it."""


def is_legacy(buffer: Buffer) -> bool:
    return len(buffer) > MAGIC_POSITION and buffer[MAGIC_POSITION] in (0, 1)


def to_batch(message_set: Buffer, most: int, limit: int) -> Making[bytes]:
    """One uncompressed batch of every message, with offsets from 0 on.

    Raises TooLarge if the batch would have more than `most` bytes, or if compressed messages unpack
    to more than `limit` bytes, or than such a batch can hold.
    """
    room = min(limit, SHRINKS * most)
    if len(message_set) > SHRINKS * most:
        raise TooLarge(f"{len(message_set)} bytes of messages are more than {most} of records")
    message_set = bytes(message_set)  # another request may reuse the memory while a thread works
    yield COPIES * room
    payload = Payload(0)
    for number, message in enumerate(unwrapped(memoryview(message_set), room)):
        payload.add(Record(number, message.timestamp, _copy(message.key), _copy(message.value)))
        if HEADER_SIZE + len(payload.data) > most:
            raise TooLarge(f"the messages take more than {most} bytes as a batch")
        if number % SLICE == 0:
            yield None
    return sealed(payload)


def from_batches(stored: Iterable[Buffer], wanted: WantedMessages, limit: int) -> Making[bytes]:
    """An uncompressed message set of the records from an offset on: up to `max_bytes`, and at least
    one message. A batch may unpack to `limit` bytes.
    """
    made = bytearray()
    for header, packed in _batches(stored):
        yield None
        if header.is_control or header.is_empty or header.next_offset <= wanted.offset:
            continue
        plain = yield from unpacked(header.codec, packed, limit)
        if (yield from _add(made, header, plain, wanted)):
            break
    return bytes(made)


def _batches(stored: Iterable[Buffer]) -> Iterator[tuple[BatchHeader, memoryview]]:
    for data in stored:
        position = 0
        while position < len(data):
            header = read_header(data, position)
            start, position = position + HEADER_SIZE, position + header.size
            if position > len(data):
                raise CorruptBatch("the last batch is cut")
            yield header, memoryview(data)[start:position]


def _add(
    made: bytearray, header: BatchHeader, plain: bytes, wanted: WantedMessages
) -> Making[bool]:
    """True if the message set is full."""
    attributes = header.attributes & LOG_APPEND_TIME if wanted.magic else 0
    skipped, position = 0, 0
    if header.count == header.offsets and wanted.offset > header.base_offset:
        skipped = wanted.offset - header.base_offset
        try:
            position = yield from skip(plain, 0, skipped)
        except IndexError:
            raise CorruptBatch("a record is cut") from None
    for number, record in enumerate(parse(header, plain, skipped, position)):
        if number % SLICE == 0:
            yield None
        if record.offset < wanted.offset:
            continue
        if len(record.key or b"") + len(record.value or b"") > LARGEST:
            raise TooLarge(f"an old client gets no message of more than {LARGEST} bytes")
        message = _message(record, wanted.magic, attributes)
        room = wanted.max_bytes - len(made)
        if len(message) >= room:
            if not made or len(message) == room:
                made += message
            elif wanted.cut:
                made += message[: max(room, 0)]
            return True
        made += message
    return False


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
