"""Messages of magic 0 and 1, put together by hand; and their conversion, all at once."""

import struct
import zlib

from samsa.records import legacy
from samsa.records.bounded import Buffer
from samsa.records.legacy import WantedMessages
from samsa.records.record import DEFAULT_LIMIT
from samsa.records.spans import at_once


def message(
    magic: int,
    value: bytes | None,
    *,
    key: bytes | None = None,
    attributes: int = 0,
    timestamp: int = 0,
    offset: int = 0,
) -> bytes:
    time = struct.pack(">q", timestamp) if magic == 1 else b""
    return framed(struct.pack(">bb", magic, attributes) + time + sized(key) + sized(value), offset)


def framed(body: bytes, offset: int = 0) -> bytes:
    """A message around everything behind its checksum."""
    return struct.pack(">qiI", offset, 4 + len(body), zlib.crc32(body)) + body


def sized(data: bytes | None) -> bytes:
    return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data


def to_batch(message_set: Buffer, limit: int = DEFAULT_LIMIT, most: int = DEFAULT_LIMIT) -> bytes:
    return at_once(legacy.to_batch(message_set, most, limit))


def from_batches(
    batches: Buffer,
    magic: int,
    offset: int,
    max_bytes: int | None = None,
    limit: int = DEFAULT_LIMIT,
    cut: bool = True,
) -> bytes:
    most = 1 << 31 if max_bytes is None else max_bytes
    return at_once(legacy.from_batches([batches], WantedMessages(magic, offset, most, cut), limit))
