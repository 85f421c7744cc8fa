"""From records to the plain bytes of a RecordBatch v2."""

from samsa.records.errors import InvalidRecord
from samsa.records.parse import LARGEST_LONG, SMALLEST_LONG, Record
from samsa.records.varint import varint

LARGEST_DELTA = 2**31 - 1

_NULL = varint(-1)


class Payload:
    """Collects records. Only their bytes are kept, so the records may come from a stream."""

    def __init__(self, base_offset: int) -> None:
        self.data = bytearray()
        self.count = 0
        self.last_offset_delta = -1
        self.base_timestamp = 0
        self.max_timestamp = 0
        self.base_offset = base_offset

    def add(self, record: Record) -> None:
        if self.count == 0:
            self.base_timestamp = self.max_timestamp = record.timestamp
        timestamp_delta = self._timestamp_delta(record.timestamp)
        offset_delta = self._offset_delta(record.offset)
        self._write(_body(record, timestamp_delta, offset_delta))
        self.last_offset_delta = offset_delta
        self.max_timestamp = max(self.max_timestamp, record.timestamp)
        self.count += 1

    def _write(self, body: bytes) -> None:
        self.data += varint(len(body))
        self.data += body

    def _timestamp_delta(self, timestamp: int) -> int:
        delta = timestamp - self.base_timestamp
        if not SMALLEST_LONG <= delta <= LARGEST_LONG:
            raise InvalidRecord("the timestamps of a batch lie too far apart")
        return delta

    def _offset_delta(self, offset: int) -> int:
        delta = offset - self.base_offset
        if not self.last_offset_delta < delta <= LARGEST_DELTA:
            raise InvalidRecord(f"offset {offset} is not in its place")
        return delta


def _body(record: Record, timestamp_delta: int, offset_delta: int) -> bytes:
    pieces = [b"\x00", varint(timestamp_delta), varint(offset_delta)]
    pieces += _nullable(record.key)
    pieces += _nullable(record.value)
    pieces.append(varint(len(record.headers)))
    for name, value in record.headers:
        pieces += _nullable(name.encode())
        pieces += _nullable(value)
    return b"".join(pieces)


def _nullable(data: bytes | None) -> tuple[bytes, ...]:
    return (_NULL,) if data is None else (varint(len(data)), data)
