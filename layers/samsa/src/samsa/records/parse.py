"""From the plain bytes of a RecordBatch v2 to its records.

Everything is checked: a batch in the log may have been stored by an older version, which did not
check its records.
"""

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from samsa.records.errors import CorruptBatch
from samsa.records.header import BatchHeader
from samsa.records.varint import read_varint

Headers: TypeAlias = tuple[tuple[str, bytes | None], ...]

SMALLEST_LONG, LARGEST_LONG = -(2**63), 2**63 - 1


class Record(NamedTuple):
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


def parse(
    header: BatchHeader, data: bytes, skipped: int = 0, position: int = 0
) -> Iterator[Record]:
    """All records; or those from `position` on, if `skipped` records lie before it."""
    lowest, end = header.base_offset, header.next_offset
    append_time = header.max_timestamp if header.log_append_time else None
    for _ in range(header.count - skipped):
        try:
            record, position = _record(header, data, position)
        except IndexError:
            raise CorruptBatch("a record is cut or garbled") from None
        if not lowest <= record.offset < end:
            raise CorruptBatch(f"offset {record.offset} is not in its place")
        lowest = record.offset + 1
        yield record if append_time is None else record._replace(timestamp=append_time)
    if position != len(data):
        raise CorruptBatch("there are bytes after the last record")


def _record(header: BatchHeader, data: bytes, position: int) -> tuple[Record, int]:
    length, start = read_varint(data, position)
    # One byte of unused attributes comes before the deltas.
    delta, position = read_varint(data, start + 1)
    timestamp = header.base_timestamp + delta
    delta, position = read_varint(data, position)
    offset = header.base_offset + delta
    key, position = _bytes(data, position)
    value, position = _bytes(data, position)
    headers, position = _headers(data, position)
    # A field that ran past the end of its record has moved the position past it too.
    if position != start + length or position > len(data):
        raise CorruptBatch("a record is not as long as it says")
    if not SMALLEST_LONG <= timestamp <= LARGEST_LONG:
        raise CorruptBatch("a timestamp does not fit into 64 bits")
    return Record(offset, timestamp, key, value, headers), position


def _bytes(data: bytes, position: int) -> tuple[bytes | None, int]:
    length, start = read_varint(data, position)
    if length < 0:
        return None, start
    end = start + length
    return data[start:end], end


def _headers(data: bytes, position: int) -> tuple[Headers, int]:
    count, position = read_varint(data, position)
    if count == 0:
        return (), position
    if count < 0:
        raise CorruptBatch("a record has fewer than no headers")
    found = []
    for _ in range(count):
        name, position = _bytes(data, position)
        if name is None:
            raise CorruptBatch("a record header has no name")
        value, position = _bytes(data, position)
        # As Java reads it: a name that is no UTF-8 is not refused when it is produced.
        found.append((name.decode(errors="replace"), value))
    return tuple(found), position
