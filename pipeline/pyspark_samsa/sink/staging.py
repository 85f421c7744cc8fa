"""Staging, in an executor: rows become record batches, and those become objects.

Memory is bounded by what one object may hold, however many rows and partitions there are.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from pyspark_samsa.errors import BadRows
from pyspark_samsa.positions import TopicPartition
from samsa.ports import Buffer
from samsa.records.batch import seal
from samsa.records.compression import Codec, compress
from samsa.records.encode import Payload
from samsa.records.header import HEADER_SIZE, MAGIC, BatchHeader
from samsa.records.parse import Headers, Record

from .rows import Row
from .staged import Piece

OBJECT_BYTES = 8 * 1024 * 1024
"""What is staged at a time: as much as the log takes in one slot."""
BATCH_BYTES = 1024 * 1024
RECORD_OVERHEAD, HEADER_OVERHEAD = 40, 10
"""The most that lengths, times and offsets take."""

Put = Callable[[int, list[Buffer]], Awaitable[str]]
"""Store the object of a number; its key."""


class Whole(NamedTuple):
    """A batch that is ready."""

    data: bytes
    records: int


class Growing:
    """The batches of one partition, the last of which still grows."""

    def __init__(self, where: TopicPartition, most: int, codec: Codec) -> None:
        self.where = where
        self.most = most
        self._codec = codec
        self._whole: list[Whole] = []
        self._payload = Payload(0)

    def add(self, row: Row) -> int:
        """How many bytes it took."""
        before, target = len(self._payload.data), min(BATCH_BYTES, self.most)
        if self._payload.count and HEADER_SIZE + before + _at_most(row) > target:
            self._end_batch()
            before = 0
        self._payload.add(
            Record(self._payload.count, row.timestamp, row.key, row.value, row.headers)
        )
        return len(self._payload.data) - before

    def _end_batch(self) -> None:
        payload = self._payload
        data = sealed(payload, self._codec)
        if len(data) > self.most:
            raise BadRows(
                f"a record for {self.where} makes a batch of {len(data)} bytes, more than the"
                f" topic's max.message.bytes={self.most}"
            )
        self._whole.append(Whole(data, payload.count))
        self._payload = Payload(0)

    def take(self) -> list[Whole]:
        """All of them; nothing is left."""
        if self._payload.count:
            self._end_batch()
        whole, self._whole = self._whole, []
        return whole


class Stager:
    def __init__(self, put: Put, codec: Codec) -> None:
        self._put = put
        self._codec = codec
        self._growing: dict[TopicPartition, Growing] = {}
        self._held = 0
        self._objects = 0
        self.pieces: list[Piece] = []

    @property
    def is_full(self) -> bool:
        return self._held >= OBJECT_BYTES

    def add(self, row: Row) -> None:
        """Raises BadRows."""
        where = TopicPartition(row.target.name, row.number)
        growing = self._growing.get(where)
        if growing is None:
            growing = self._growing[where] = Growing(where, row.target.most, self._codec)
        self._held += growing.add(row)

    async def flush(self) -> None:
        """Put what is held into an object of its own."""
        parts: list[Buffer] = []
        ranges: list[tuple[Growing, int, int, int]] = []
        position = 0
        for growing in self._growing.values():
            whole = growing.take()
            size = sum(len(batch.data) for batch in whole)
            ranges.append((growing, position, size, sum(batch.records for batch in whole)))
            parts += [batch.data for batch in whole]
            position += size
        self._growing, self._held = {}, 0
        if not parts:
            return
        key = await self._put(self._objects, parts)
        self._objects += 1
        self.pieces += [
            Piece(*growing.where, key, start, size, records, growing.most)
            for growing, start, size, records in ranges
        ]


def sealed(payload: Payload, codec: Codec) -> bytes:
    """A batch of nobody's: who appends it gives it a producer and a place."""
    data = compress(codec, payload.data)
    if codec is not Codec.NONE and len(data) >= len(payload.data):
        codec, data = Codec.NONE, bytes(payload.data)
    header = BatchHeader(
        base_offset=0,
        length=0,
        leader_epoch=0,
        magic=MAGIC,
        crc=0,
        attributes=codec,
        last_offset_delta=payload.count - 1,
        base_timestamp=payload.base_timestamp,
        max_timestamp=payload.max_timestamp,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        count=payload.count,
    )
    return seal(header, data)


def _at_most(row: Row) -> int:
    size = RECORD_OVERHEAD + len(row.key or b"") + len(row.value or b"")
    return size + _headers_at_most(row.headers) if row.headers else size


def _headers_at_most(headers: Headers) -> int:
    return sum(HEADER_OVERHEAD + 4 * len(name) + len(value or b"") for name, value in headers)
