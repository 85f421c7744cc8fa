"""The records of RecordBatch v2: reading one batch, and building one."""

from collections.abc import Iterable, Iterator

from samsa.records.batch import seal
from samsa.records.bounded import Buffer
from samsa.records.compression import CODEC_MASK, Codec, compress
from samsa.records.encode import Payload
from samsa.records.errors import CorruptBatch, InvalidRecord
from samsa.records.header import HEADER_SIZE, MAGIC, BatchHeader, read_header
from samsa.records.parse import LARGEST_LONG, Headers, Record, parse
from samsa.records.spans import at_once
from samsa.records.unpack import Making, unpacked

__all__ = ["DEFAULT_LIMIT", "Headers", "Record", "build", "records", "records_in_steps", "sealed"]

DEFAULT_LIMIT = 64 * 1024 * 1024


def records(buffer: Buffer, position: int = 0, limit: int = DEFAULT_LIMIT) -> Iterator[Record]:
    """The records of the batch at a position, which may unpack to at most `limit` bytes.

    The checksum is not checked: `validate` did that before the batch was stored.
    """
    return at_once(records_in_steps(buffer, position, limit))


def records_in_steps(buffer: Buffer, position: int, limit: int) -> Making[Iterator[Record]]:
    """The same, unpacked in steps. The caller yields between records from time to time."""
    header = _header_at(buffer, position)
    if header.is_empty:
        return iter(())
    packed = memoryview(buffer)[position + HEADER_SIZE : position + header.size]
    return parse(header, (yield from unpacked(header.codec, packed, limit)))


def _header_at(buffer: Buffer, position: int) -> BatchHeader:
    """The header, if the batch is complete and its counts are possible. Raises CorruptBatch."""
    header = read_header(buffer, position)
    if position + header.size > len(buffer):
        raise CorruptBatch("the batch is cut")
    if header.count < 0 or not -1 <= header.last_offset_delta <= LARGEST_LONG - header.base_offset:
        raise CorruptBatch("the header counts what cannot be counted")
    return header


def build(
    records: Iterable[Record],
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

    For a compacted batch, pass its old `last_offset_delta`: it then keeps all its offsets.
    """
    payload = Payload(base_offset)
    for record in records:
        payload.add(record)
    return sealed(
        payload,
        codec=codec,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        leader_epoch=leader_epoch,
        attributes=attributes,
        last_offset_delta=last_offset_delta,
    )


def sealed(
    payload: Payload,
    *,
    codec: Codec = Codec.NONE,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    leader_epoch: int = 0,
    attributes: int = 0,
    last_offset_delta: int | None = None,
) -> bytes:
    """The batch of a payload to which all records were added."""
    if payload.count == 0:
        raise InvalidRecord("a batch needs records; one without them is a filler")
    header = BatchHeader(
        base_offset=payload.base_offset,
        length=0,
        leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=attributes & ~CODEC_MASK | codec,
        last_offset_delta=_at_least(payload.last_offset_delta, last_offset_delta),
        base_timestamp=payload.base_timestamp,
        max_timestamp=payload.max_timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        count=payload.count,
    )
    return seal(header, compress(codec, payload.data))


def _at_least(needed: int, wanted: int | None) -> int:
    if wanted is not None and wanted < needed:
        raise InvalidRecord("the records take more offsets than the batch")
    return needed if wanted is None else wanted
