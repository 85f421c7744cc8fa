"""Message sets of magic 0 and 1, written and read by aiokafka: our own code is under test."""

import struct
import zlib
from collections.abc import Sequence
from typing import NamedTuple

from aiokafka.record.legacy_records import LegacyRecordBatchBuilder
from aiokafka.record.memory_records import MemoryRecords

from samsa.records import lz4
from samsa.records.compression import Codec

ROOM = 1 << 22


class Old(NamedTuple):
    """What an old client knows of a record: no headers, and a timestamp from magic 1 on."""

    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int | None


def message_set(
    magic: int, pairs: Sequence[tuple[bytes | None, bytes | None]], codec: Codec, timestamp: int = 0
) -> bytes:
    if (magic, codec) == (0, Codec.LZ4):
        return _wrapped(message_set(magic, pairs, Codec.NONE))
    builder = LegacyRecordBatchBuilder(magic=magic, compression_type=codec, batch_size=ROOM)
    for offset, (key, value) in enumerate(pairs):
        assert builder.append(offset, timestamp=timestamp + offset, key=key, value=value)
    return bytes(builder.build())


def _wrapped(inner: bytes) -> bytes:
    """LZ4 as Java clients wrote it before 0.10, their wrong checksum included: aiokafka refuses."""
    frame = bytearray(lz4.compress(inner))
    frame[6] = lz4.header_checksum(bytes(frame[:6]))
    body = struct.pack(">bbii", 0, Codec.LZ4, -1, len(frame)) + frame
    return struct.pack(">qiI", 0, 4 + len(body), zlib.crc32(body)) + body


def messages_in(data: bytes | memoryview | None) -> list[Old]:
    """Every whole message; a last one that is cut is left out, as clients do."""
    found: list[Old] = []
    reader = MemoryRecords(bytes(data or b""))
    while reader.has_next():
        part = reader.next_batch()
        assert part.validate_crc()
        found += [Old(r.offset, r.key, r.value, r.timestamp) for r in part]
    return found
