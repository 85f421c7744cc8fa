"""The records of RecordBatch v2: reading one batch, building one, finding one by time."""

from collections.abc import Iterator, Sequence

from samsa.records.batch import seal
from samsa.records.bounded import Buffer
from samsa.records.compression import Codec, compress, decompress
from samsa.records.errors import CorruptBatch, InvalidRecord
from samsa.records.header import HEADER_SIZE, MAGIC, BatchHeader, headers, read_header
from samsa.records.parse import LARGEST_LONG, SMALLEST_LONG, Headers, Record, parse
from samsa.records.varint import varint

__all__ = ["DEFAULT_LIMIT", "Headers", "Record", "build", "first_at_or_after", "records"]

DEFAULT_LIMIT = 64 * 1024 * 1024
LARGEST_DELTA = 2**31 - 1


def records(buffer: Buffer, position: int = 0, limit: int = DEFAULT_LIMIT) -> Iterator[Record]:
    """The records of the batch at a position, which may unpack to at most `limit` bytes.

    The checksum is not looked at: `validate` did that before the batch was stored.
    """
    header = read_header(buffer, position)
    end = position + header.size
    if end > len(buffer):
        raise CorruptBatch("the batch is cut")
    if header.count < 0 or not -1 <= header.last_offset_delta <= LARGEST_LONG - header.base_offset:
        raise CorruptBatch("the header counts what cannot be counted")
    if header.is_empty:
        return iter(())
    packed = memoryview(buffer)[position + HEADER_SIZE : end]
    return parse(header, decompress(header.codec, packed, limit))


def first_at_or_after(
    buffer: Buffer, timestamp: int, start_offset: int = 0, limit: int = DEFAULT_LIMIT
) -> tuple[int, int] | None:
    """Offset and timestamp of the first record, at or after a time, in the batches of an object."""
    for position, header in headers(buffer):
        if header.max_timestamp < timestamp or header.next_offset <= start_offset:
            continue
        for record in records(buffer, position, limit):
            if record.timestamp >= timestamp and record.offset >= start_offset:
                return record.offset, record.timestamp
    return None


def build(
    records: Sequence[Record],
    *,
    base_offset: int = 0,
    codec: Codec = Codec.NONE,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    leader_epoch: int = 0,
    attributes: int = 0,
    last_offset_delta: int | None = None,
) -> bytes:
    """A batch of records that keep their offsets, which rise from the base offset on.

    A compacted batch passes the `last_offset_delta` it had, so as to go on taking all its offsets.
    """
    if not records:
        raise InvalidRecord("a batch needs records; one without them is a filler")
    base_timestamp = records[0].timestamp
    payload = b"".join(_encoded(records, base_offset, base_timestamp))
    last = records[-1].offset - base_offset if last_offset_delta is None else last_offset_delta
    if not records[-1].offset - base_offset <= last <= LARGEST_DELTA:
        raise InvalidRecord("the offsets do not fit into the batch")
    header = BatchHeader(
        base_offset=base_offset,
        length=0,
        leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=attributes & ~0x07 | codec,
        last_offset_delta=last,
        base_timestamp=base_timestamp,
        max_timestamp=max(record.timestamp for record in records),
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        count=len(records),
    )
    return seal(header, compress(codec, payload))


def _encoded(records: Sequence[Record], base_offset: int, base_timestamp: int) -> Iterator[bytes]:
    lowest = base_offset
    for record in records:
        if record.offset < lowest:
            raise InvalidRecord(f"offset {record.offset} is not in its place")
        lowest = record.offset + 1
        delta = record.timestamp - base_timestamp
        if not SMALLEST_LONG <= delta <= LARGEST_LONG:
            raise InvalidRecord("timestamps lie too far apart")
        body = b"".join(_fields(record, delta, record.offset - base_offset))
        yield varint(len(body))
        yield body


def _fields(record: Record, timestamp_delta: int, offset_delta: int) -> Iterator[bytes]:
    yield b"\x00"
    yield varint(timestamp_delta)
    yield varint(offset_delta)
    yield from _nullable(record.key)
    yield from _nullable(record.value)
    yield varint(len(record.headers))
    for name, value in record.headers:
        yield from _nullable(name.encode())
        yield from _nullable(value)


def _nullable(data: bytes | None) -> tuple[bytes, bytes]:
    return (varint(-1), b"") if data is None else (varint(len(data)), data)
