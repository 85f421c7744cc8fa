"""Markers: the control batches that end a transaction in a partition.

A marker has one record. Its key says whether the transaction was committed, its value names the
coordinator's epoch.
"""

import struct

from samsa.records.batch import NO_PRODUCER, seal
from samsa.records.errors import CorruptBatch
from samsa.records.header import CONTROL, HEADER_SIZE, MAGIC, TRANSACTIONAL, BatchHeader
from samsa.records.varint import read_varint, varint

_KEY = struct.Struct(">hh")
_VALUE = struct.Struct(">hi")
_VERSION = 0
_COMMIT = 1
_BEFORE_KEY = b"\0\0\0" + varint(_KEY.size)
"""Attributes, and the deltas of time and offset; then the key's length."""
_NO_HEADERS = varint(0)


def marker(
    producer_id: int, epoch: int, is_commit: bool, timestamp: int, coordinator_epoch: int = 0
) -> bytes:
    """A marker, at offset 0."""
    assert producer_id != NO_PRODUCER
    key, value = _KEY.pack(_VERSION, is_commit), _VALUE.pack(_VERSION, coordinator_epoch)
    record = _BEFORE_KEY + key + varint(len(value)) + value + _NO_HEADERS
    return seal(
        BatchHeader(
            base_offset=0,
            length=0,
            leader_epoch=0,
            magic=MAGIC,
            crc=0,
            attributes=TRANSACTIONAL | CONTROL,
            last_offset_delta=0,
            base_timestamp=timestamp,
            max_timestamp=timestamp,
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=-1,
            count=1,
        ),
        varint(len(record)) + record,
    )


def commits(batch: bytes | bytearray | memoryview) -> bool:
    """Whether a control batch is the marker of a committed transaction. Raises CorruptBatch."""
    try:
        _, position = read_varint(batch, HEADER_SIZE)  # the record's length
        _, position = read_varint(batch, position + 1)  # its time: compaction may make that long
        _, position = read_varint(batch, position)
        _, position = read_varint(batch, position)
        _, kind = _KEY.unpack_from(batch, position)
    except (IndexError, struct.error):
        raise CorruptBatch("a marker is cut") from None
    return bool(kind == _COMMIT)
