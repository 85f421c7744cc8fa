"""RecordBatch v2: what a producer may send, its place in the log, and the empty batch.

Records are not checked here (`walk.py` does that). The checksum covers a batch from its attributes
on. So the base offset and the leader epoch can be patched in place, and the rest is stored as it
came.
"""

import struct

from samsa.records.bounded import Buffer
from samsa.records.checksum import crc32c
from samsa.records.compression import CODEC_MASK, codec_of
from samsa.records.errors import CorruptBatch, InvalidRecord
from samsa.records.header import (
    CONTROL,
    DELETE_HORIZON,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    MAGIC,
    BatchHeader,
    headers,
    read_header,
)

__all__ = [
    "BatchHeader",
    "assign",
    "compacted_filler",
    "filler",
    "headers",
    "is_filler",
    "read_header",
    "seal",
    "set_newest",
    "shift_offsets",
    "stamp",
    "validate",
]

CRC_START = 21
SMALLEST_RECORD = 7
NO_PRODUCER = -1
NO_TIMESTAMP = -1

_BASE_OFFSET = struct.Struct(">q")
_LEADER_EPOCH = struct.Struct(">i")
_BEFORE_CRC = struct.Struct(">qiib")
_CRC = struct.Struct(">I")
_AFTER_CRC = struct.Struct(">hiqqqhii")


def validate(buffer: Buffer) -> BatchHeader:
    """The header of the one batch that a producer may append."""
    header = read_header(buffer)
    # Unpacked together: reading each field by its name takes as long as the checksum.
    _, length, _, _, crc, attributes, last, _, _, producer_id, _, sequence, count = header
    size = LOG_OVERHEAD + length
    if size != len(buffer):
        headers(buffer)  # raises CorruptBatch if a batch is cut
        raise InvalidRecord("a producer sends one batch at a time for a partition")
    if crc32c(memoryview(buffer)[CRC_START:]) != crc:
        raise CorruptBatch("the checksum does not match")
    if count <= 0 or count != last + 1:
        raise InvalidRecord(f"{count} records take {last + 1} offsets")
    if attributes & CONTROL:
        raise InvalidRecord("producers do not write control batches")
    if producer_id >= 0 and sequence < 0:
        raise InvalidRecord("an idempotent producer numbers its batches")
    if attributes & CODEC_MASK:
        codec_of(attributes)  # raises UnsupportedCodec
    elif count * SMALLEST_RECORD > size - HEADER_SIZE:
        raise InvalidRecord(f"{count} records do not fit into {size} bytes")
    return header


def assign(buffer: memoryview, position: int, base_offset: int, leader_epoch: int = 0) -> None:
    """Give a batch its place in the log: patches the buffer."""
    _BASE_OFFSET.pack_into(buffer, position, base_offset)
    _LEADER_EPOCH.pack_into(buffer, position + LOG_OVERHEAD, leader_epoch)


def shift_offsets(buffer: Buffer, by: int) -> bytearray:
    """A copy of whole batches, with `by` added to the base offset of each."""
    moved = bytearray(buffer)
    for position, header in headers(moved):
        _BASE_OFFSET.pack_into(moved, position, header.base_offset + by)
    return moved


def stamp(buffer: memoryview, position: int, timestamp: int) -> BatchHeader:
    """Set log append time: all records of the batch then have this time. Patches the buffer."""
    attributes = read_header(buffer, position).attributes | LOG_APPEND_TIME
    return _retimed(buffer, position, attributes, timestamp)


def set_newest(buffer: memoryview, position: int, timestamp: int) -> BatchHeader:
    """Set the batch's greatest timestamp; its records keep their own. Patches the buffer."""
    attributes = read_header(buffer, position).attributes & ~LOG_APPEND_TIME
    return _retimed(buffer, position, attributes, timestamp)


def _retimed(buffer: memoryview, position: int, attributes: int, timestamp: int) -> BatchHeader:
    header = read_header(buffer, position)
    header = header._replace(attributes=attributes, max_timestamp=timestamp)
    _AFTER_CRC.pack_into(buffer, position + CRC_START, *header[5:])
    crc = crc32c(buffer[position + CRC_START : position + header.size])
    _CRC.pack_into(buffer, position + CRC_START - _CRC.size, crc)
    return header._replace(crc=crc)


def seal(header: BatchHeader, payload: bytes = b"") -> bytes:
    """A whole batch from its header and records. Length, magic and checksum are computed."""
    protected = _AFTER_CRC.pack(*header[5:]) + payload
    length = CRC_START - LOG_OVERHEAD + len(protected)
    before = _BEFORE_CRC.pack(header.base_offset, length, header.leader_epoch, MAGIC)
    return b"".join((before, _CRC.pack(crc32c(protected)), protected))


def filler(base_offset: int, count: int, timestamp: int, attributes: int = 0) -> bytes:
    """A batch that takes offsets and holds no records, as in a compacted Kafka log."""
    return seal(
        BatchHeader(
            base_offset=base_offset,
            length=0,
            leader_epoch=0,
            magic=MAGIC,
            crc=0,
            attributes=attributes,
            last_offset_delta=count - 1,
            base_timestamp=timestamp,
            max_timestamp=timestamp,
            producer_id=NO_PRODUCER,
            producer_epoch=-1,
            base_sequence=-1,
            count=0,
        )
    )


def compacted_filler(base_offset: int, count: int) -> bytes:
    """The filler for records that were compacted away. DELETE_HORIZON tells it from others."""
    return filler(base_offset, count, NO_TIMESTAMP, DELETE_HORIZON)


def is_filler(header: BatchHeader) -> bool:
    return header.count == 0 and header.producer_id == NO_PRODUCER and not header.is_control
