"""Rows to the bytes of a record batch: what `samsa.records` builds, for rows by the million.

Nearly every number in a record is small, and looked up here rather than made each time.
"""

from samsa.records.batch import seal
from samsa.records.compression import Codec, compress
from samsa.records.header import MAGIC, BatchHeader
from samsa.records.parse import Headers
from samsa.records.varint import varint

SMALL = tuple(varint(number) for number in range(1 << 14))
LARGEST_SMALL = len(SMALL) - 1
NULL, NO_HEADERS, ATTRIBUTES = varint(-1), varint(0), b"\x00"
RECORD_OVERHEAD, HEADER_OVERHEAD = 40, 10
"""The most that lengths, times and offsets take."""


class Growing:
    """A batch that grows by a record at a time."""

    __slots__ = ("base_timestamp", "count", "data", "max_timestamp")

    def __init__(self) -> None:
        self.data = bytearray()
        self.count = 0
        self.base_timestamp = self.max_timestamp = 0

    def add(self, time: int, key: bytes | None, value: bytes | None, headers: Headers) -> None:
        if not self.count:
            self.base_timestamp = self.max_timestamp = time
        elif time > self.max_timestamp:
            self.max_timestamp = time
        body = b"".join(
            (
                ATTRIBUTES,
                _number(time - self.base_timestamp),
                _number(self.count),
                NULL if key is None else _number(len(key)),
                key or b"",
                NULL if value is None else _number(len(value)),
                value or b"",
                _headers(headers) if headers else NO_HEADERS,
            )
        )
        self.data += _number(len(body))
        self.data += body
        self.count += 1

    def sealed(self, codec: Codec) -> bytes:
        """A batch without a producer: the publisher gives it a producer and a place."""
        data = compress(codec, self.data)
        if codec is not Codec.NONE and len(data) >= len(self.data):
            codec, data = Codec.NONE, bytes(self.data)
        header = BatchHeader(
            base_offset=0,
            length=0,
            leader_epoch=0,
            magic=MAGIC,
            crc=0,
            attributes=codec,
            last_offset_delta=self.count - 1,
            base_timestamp=self.base_timestamp,
            max_timestamp=self.max_timestamp,
            producer_id=-1,
            producer_epoch=-1,
            base_sequence=-1,
            count=self.count,
        )
        return seal(header, data)


def at_most(key: bytes | None, value: bytes | None, headers: Headers) -> int:
    """Bytes that a record takes."""
    size = RECORD_OVERHEAD + len(key or b"") + len(value or b"")
    for name, content in headers:
        size += HEADER_OVERHEAD + 4 * len(name) + len(content or b"")
    return size


def _number(number: int) -> bytes:
    return SMALL[number] if 0 <= number <= LARGEST_SMALL else varint(number)


def _headers(headers: Headers) -> bytes:
    pieces = [_number(len(headers))]
    for name, content in headers:
        encoded = name.encode()
        pieces += (_number(len(encoded)), encoded)
        pieces += (NULL,) if content is None else (_number(len(content)), content)
    return b"".join(pieces)
