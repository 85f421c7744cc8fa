"""The fixed 61 bytes at the start of every RecordBatch v2."""

import struct
from typing import NamedTuple

from samsa.records.bounded import Buffer
from samsa.records.compression import Codec, codec_of
from samsa.records.errors import CorruptBatch

MAGIC = 2
LOG_OVERHEAD = 12  # base offset and length: the bytes that the length does not count
HEADER_SIZE = 61
LARGEST_SEQUENCE = 0x7FFFFFFF

LOG_APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20
DELETE_HORIZON = 0x40
"""The base timestamp is not a record's time: it is the time from which tombstones may go."""

_HEADER = struct.Struct(">qiibIhiqqqhii")


class BatchHeader(NamedTuple):
    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int  # type: ignore[assignment]  # Kafka's name, and a tuple's method's

    def at(self, base_offset: int) -> "BatchHeader":
        """The same at another place in the log."""
        return tuple.__new__(BatchHeader, (base_offset, *self[1:]))

    @property
    def size(self) -> int:
        """Bytes of the whole batch."""
        return LOG_OVERHEAD + self.length

    @property
    def codec(self) -> Codec:
        return codec_of(self.attributes)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def log_append_time(self) -> bool:
        return bool(self.attributes & LOG_APPEND_TIME)

    @property
    def delete_horizon(self) -> int | None:
        return self.base_timestamp if self.attributes & DELETE_HORIZON else None

    @property
    def offsets(self) -> int:
        """How many offsets the batch takes: after compaction, more than it has records."""
        return self.last_offset_delta + 1

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def is_empty(self) -> bool:
        return self.count == 0

    @property
    def last_sequence(self) -> int:
        """Sequences are positive and start again at 0 after the largest 32-bit integer."""
        if self.base_sequence < 0:
            return self.base_sequence
        return (self.base_sequence + self.last_offset_delta) & LARGEST_SEQUENCE


def read_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """The header at a position. The rest of the batch need not be there."""
    try:
        header = BatchHeader._make(_HEADER.unpack_from(buffer, position))
    except struct.error:
        raise CorruptBatch("a batch header is cut") from None
    if header.magic != MAGIC:
        raise CorruptBatch(f"magic {header.magic} is not {MAGIC}")
    if header.length < HEADER_SIZE - LOG_OVERHEAD:
        raise CorruptBatch(f"a batch cannot be {header.length} bytes long")
    return header


def headers(buffer: Buffer) -> list[tuple[int, BatchHeader]]:
    """The position and header of every batch; a partial tail is an error."""
    found = []
    position, end = 0, len(buffer)
    while position < end:
        header = read_header(buffer, position)
        found.append((position, header))
        position += LOG_OVERHEAD + header.length
    if position > end:
        raise CorruptBatch("the last batch is cut")
    return found
