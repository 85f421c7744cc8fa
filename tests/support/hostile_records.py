"""Batches under a right checksum whose records are none, or whose times and counts are wild.

Apache Kafka's answer to each stands beside it; `test_records_like_kafka.py` asks a real one.
"""

import random
import time
from typing import Any, NamedTuple

from samsa.records.batch import read_header, seal
from samsa.records.compression import Codec, compress
from samsa.records.header import DELETE_HORIZON, LOG_APPEND_TIME
from samsa.records.record import Record, build
from samsa.records.varint import varint
from samsa.wire.errors import ErrorCode

NOW = time.time_ns() // 1_000_000
HOUR = 3_600_000
LARGEST = 2**63 - 1
STORED, INVALID, BAD_TIME = ErrorCode.NONE, ErrorCode.INVALID_RECORD, ErrorCode.INVALID_TIMESTAMP
FAILED = ErrorCode.UNKNOWN_SERVER_ERROR
PACKED = (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD)


class Case(NamedTuple):
    data: bytes
    kafka: ErrorCode
    ours: ErrorCode | None = None
    """If it is another."""

    @property
    def expected(self) -> ErrorCode:
        return self.kafka if self.ours is None else self.ours


def noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)


def record(delta: int = 0, time_delta: int = 0, rest: bytes = b"\1\1\0") -> bytes:
    """One without key, value and headers, unless the rest says otherwise."""
    body = b"\0" + varint(time_delta) + varint(delta) + rest
    return varint(len(body)) + body


def sealed(data: bytes, count: int = 1, codec: Codec = Codec.NONE, **more: Any) -> bytes:
    header = read_header(build([Record(0, NOW, None, b"")]))
    more = {"count": count, "last_offset_delta": count - 1, "attributes": int(codec), **more}
    return seal(header._replace(**more), data)


def packed(data: bytes, codec: Codec, **more: Any) -> bytes:
    return sealed(compress(codec, data), codec=codec, **more)


def timed(base: int, newest: int | None = None, *deltas: int) -> bytes:
    data = b"".join(record(n, delta) for n, delta in enumerate(deltas or (0,)))
    newest = base if newest is None else newest
    return sealed(data, max(1, len(deltas)), base_timestamp=base, max_timestamp=newest)


ALIKE = [record(n, rest=b"\1" + varint(20) + b"x" * 20 + b"\0") for n in range(2_000)]
BROKEN = [
    *ALIKE[:1_500],
    record(1_500, rest=b"\1" + varint(21) + b"x" * 20 + b"\0"),
    *ALIKE[1_501:],
]

CASES: dict[str, Case] = {
    "noise": Case(sealed(noise(200), 5), INVALID),
    **{f"noise in {c.name}": Case(packed(noise(200), c, count=5), INVALID) for c in PACKED},
    # Kafka's own code fails on these; a client that is told so gives up, as it should.
    **{
        f"noise that is no {c.name}": Case(sealed(noise(200), 5, c), FAILED, INVALID)
        for c in PACKED
    },
    "a record too many": Case(sealed(record() + record(1)), INVALID),
    "a record too many, packed": Case(packed(record() + record(1), Codec.ZSTD), INVALID),
    "a record too few": Case(sealed(record(), 2), INVALID),
    "a record too few, packed": Case(packed(record(), Codec.ZSTD, count=2), INVALID),
    "two thousand records, one of them broken": Case(sealed(b"".join(BROKEN), 2_000), INVALID),
    "two thousand records": Case(sealed(b"".join(ALIKE), 2_000), STORED),
    "2^31-1 records, packed": Case(packed(record(), Codec.ZSTD, count=2**31 - 1), INVALID),
    "2^31-1 records": Case(sealed(record(), 2**31 - 1), INVALID),
    "a header without a name": Case(sealed(record(rest=b"\1\1\2\1\1")), INVALID),
    "a negative count of headers": Case(sealed(record(rest=b"\1\1\1")), INVALID),
    "a header's name that is no text": Case(sealed(record(rest=b"\1\1\2\2\xff\1")), STORED),
    "a key of length -2": Case(sealed(record(rest=b"\3\1\0")), STORED),
    # Kafka stores offsets that are not in sequence where nothing is packed, and consumers see them;
    # where it is, its own code fails. Here such a log could not be read at its offsets.
    "a gap between offsets": Case(sealed(record() + record(5), 2), STORED, INVALID),
    "an offset twice": Case(sealed(record() + record(), 2), STORED, INVALID),
    "a time in half an hour": Case(timed(NOW + HOUR // 2), STORED),
    "a time in two hours": Case(timed(NOW + 2 * HOUR), BAD_TIME),
    "a time in two hours, in a record": Case(timed(NOW, NOW, 0, 2 * HOUR), BAD_TIME),
    "the last time of all": Case(timed(LARGEST), BAD_TIME),
    "the first time of all": Case(timed(-LARGEST - 1, -1), BAD_TIME),
    "a greatest time that lies ahead": Case(timed(NOW, LARGEST), STORED),
    "a greatest time that lies behind": Case(timed(NOW - HOUR, 5, 0, 500), STORED),
    "a time before 1970": Case(timed(-5), STORED),
    # Java adds the two up, and the sum begins again at the other end.
    "times that add up to more than all": Case(timed(LARGEST, None, LARGEST), STORED, INVALID),
    "the broker's word for its own time": Case(
        sealed(record(), attributes=LOG_APPEND_TIME), STORED
    ),
    "a delete horizon": Case(sealed(record(), attributes=DELETE_HORIZON), STORED),
}
