"""Staging, in an executor: rows become record batches, and those become objects.

Memory is bounded by what one object may hold, however many rows and partitions there are.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from pyspark_samsa.errors import BadRows
from pyspark_samsa.positions import TopicPartition
from samsa.ports import Buffer
from samsa.records.compression import Codec
from samsa.records.header import HEADER_SIZE

from .encode import Growing, at_most
from .rows import SinkRow
from .staged import StagedPiece

OBJECT_BYTES = 8 * 1024 * 1024
"""What is staged at a time: as much as the log takes in one commit."""
BATCH_BYTES = 1024 * 1024

Put = Callable[[int, list[Buffer]], Awaitable[str]]
"""Store the object of a number; its key."""


class Whole(NamedTuple):
    """A batch that is complete."""

    data: bytes
    records: int


class PartitionShare:
    """The batches of one partition, the last of which still grows."""

    def __init__(self, where: TopicPartition, most: int, codec: Codec) -> None:
        self.where = where
        self.most = most
        self._codec = codec
        self._full = min(BATCH_BYTES, most) - HEADER_SIZE
        self._whole: list[Whole] = []
        self._growing = Growing()

    def add(self, row: SinkRow) -> int:
        """Returns how many bytes it took."""
        _, _, time, key, value, headers = row
        before = len(self._growing.data)
        if before and before + at_most(key, value, headers) > self._full:
            self._end_batch()
            before = 0
        self._growing.add(time, key, value, headers)
        return len(self._growing.data) - before

    def _end_batch(self) -> None:
        data = self._growing.sealed(self._codec)
        if len(data) > self.most:
            raise BadRows(
                f"a record for {self.where} makes a batch of {len(data)} bytes, more than the"
                f" topic's max.message.bytes={self.most}"
            )
        self._whole.append(Whole(data, self._growing.count))
        self._growing = Growing()

    def take(self) -> list[Whole]:
        """Return all of them; the share is empty afterwards."""
        if self._growing.count:
            self._end_batch()
        whole, self._whole = self._whole, []
        return whole


class Stager:
    def __init__(self, put: Put, codec: Codec) -> None:
        self._put = put
        self._codec = codec
        self._shares: dict[tuple[str, int], PartitionShare] = {}
        self._held = 0
        self._objects = 0
        self.pieces: list[StagedPiece] = []

    @property
    def is_full(self) -> bool:
        return self._held >= OBJECT_BYTES

    def add(self, row: SinkRow) -> None:
        """Raises BadRows."""
        where = row.target.name, row.number
        share = self._shares.get(where)
        if share is None:
            share = PartitionShare(TopicPartition(*where), row.target.most, self._codec)
            self._shares[where] = share
        self._held += share.add(row)

    async def flush(self) -> None:
        """Put what is held into an object of its own."""
        parts: list[Buffer] = []
        ranges: list[tuple[PartitionShare, int, int, int]] = []
        position = 0
        for share in self._shares.values():
            whole = share.take()
            size = sum(len(batch.data) for batch in whole)
            ranges.append((share, position, size, sum(batch.records for batch in whole)))
            parts += [batch.data for batch in whole]
            position += size
        self._shares, self._held = {}, 0
        if not parts:
            return
        key = await self._put(self._objects, parts)
        self._objects += 1
        self.pieces += [
            StagedPiece(*share.where, key, start, size, records, share.most)
            for share, start, size, records in ranges
        ]
