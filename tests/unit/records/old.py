"""Messages of magic 0 and 1, put together by hand."""

import struct
import zlib


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
