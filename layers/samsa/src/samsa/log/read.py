"""Reading: the log as the ledger has it, planned there and fetched from the objects.

A plan names ranges of objects and reads none of them, so that they can be sent straight from the
file, from a cache, or as references to S3; only for a start between two marked batches is the place
of the first one looked up.

The head is read first, then the index: an entry leaves the head's tail only once it is in the
index.
"""

import asyncio
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from samsa.ports import Buffer, Extent, Head, Missing, Partition, Piece, Unavailable
from samsa.records.batch import BatchHeader, headers, read_header
from samsa.records.errors import CorruptBatch
from samsa.records.header import HEADER_SIZE

from .extents import Range, begins_at, cut, join, piece, read, run_from
from .stores import Stores

FIRST_LOOK = 16
NEAR_LOOK = 2
"""On this machine: entries are joined there, and to look again costs little."""
LONGEST_LOOK = 64
LOOKS = 3
"""At an index that a swap changes between reading its pages."""
LOOK_BYTES = 512 * 1024
"""Of what lies between two marks: more only if the last batch there is large, and begins before."""


class OutOfRange(Exception):
    def __init__(self, log_start: int, visible_end: int) -> None:
        super().__init__(f"the log is [{log_start}, {visible_end})")
        self.log_start = log_start
        self.visible_end = visible_end


class Plan(NamedTuple):
    log_start: int
    visible_end: int
    ranges: list[Range]

    @property
    def size(self) -> int:
        return sum(r.length for r in self.ranges)

    @property
    def leaves_more(self) -> bool:
        """Whether the log goes on after it."""
        return bool(self.ranges) and self.ranges[-1].end_offset < self.visible_end


class Reader:
    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    async def head(self, partition: Partition) -> Head:
        return await self._stores.ledger.head(partition)

    async def plan(self, partition: Partition, offset: int, max_bytes: int) -> Plan:
        """What a reader at `offset` gets: whole batches up to `max_bytes`, and at least one."""
        head, known = await self._at(partition, offset)
        ranges = await self._ranges(partition, offset, head, max_bytes, known)
        if ranges and ranges[-1].end_offset > head.next_offset:
            # Merged meanwhile with what came later: the end is told as it is now.
            head, _ = await self._at(partition, offset)
        return Plan(head.log_start, head.next_offset, ranges)

    async def outline(self, partition: Partition, offset: int) -> Plan:
        """The same for a reader who gets nothing: where the log begins and ends."""
        head, _ = await self._at(partition, offset)
        return Plan(head.log_start, head.next_offset, [])

    async def _at(self, partition: Partition, offset: int) -> tuple[Head, Sequence[Extent]]:
        """The head, and what is known of the log from `offset` on without looking it up."""
        tail = self._stores.journal.tail(partition, offset)
        head = tail.head if tail else await self.head(partition)
        if not head.log_start <= offset <= head.next_offset:
            raise OutOfRange(head.log_start, head.next_offset)
        return head, tail.extents if tail else ()

    async def _ranges(
        self,
        partition: Partition,
        offset: int,
        head: Head,
        max_bytes: int,
        known: Sequence[Extent],
    ) -> list[Range]:
        ranges: list[Range] = []
        end = head.next_offset
        left, most = max_bytes, self._stores.limits.objects_per_read
        look = FIRST_LOOK if self._stores.objects.far else NEAR_LOOK
        while offset < end and len(ranges) < most and (left > 0 or not ranges):
            found = known or await self.extents_from(partition, offset, end, look, head)
            known = ()
            for extent in found:
                if ranges and (extent.size > left and not extent.marks):
                    return ranges
                taken = cut(extent, offset, left)
                if ranges and taken.length > left:
                    return ranges
                if taken.length > left or not begins_at(extent, offset):
                    taken = await self._fitted(extent, offset, left, taken)
                join(ranges, taken)
                left -= taken.length
                if taken.end_offset < extent.end or left <= 0 or len(ranges) >= most:
                    return ranges
                offset = extent.end
            look = _next_look(left, found)
        return ranges

    async def _fitted(self, extent: Extent, offset: int, max_bytes: int, taken: Range) -> Range:
        """Without the batches that end before the offset: Kafka sends none of them, and some
        clients go back to where such a batch ends. And without what is too much, if between two
        marks lies more than was asked for."""
        section = cut(extent, offset, 1)
        length = section.length  # offsets can be shifted only in whole batches
        if not section.shift:
            length = min(length, max(LOOK_BYTES, max_bytes))
        try:
            data = await read(self._stores.objects, section.part(0, length, section.end_offset))
            batches = [b for b in _headers_in(data) if b[1].next_offset > offset]
        except (Missing, CorruptBatch):
            return taken  # the log has moved on: that is found out when it is loaded
        if not batches:
            return taken
        skipped = batches[0][0]
        if taken.length - skipped <= max_bytes:
            return taken.part(skipped, taken.length - skipped, taken.end_offset)
        fits = [(at, header) for at, header in batches if at + header.size - skipped <= max_bytes]
        at, last = fits[-1] if fits else batches[0]
        return taken.part(skipped, at + last.size - skipped, last.next_offset)

    async def extents_from(
        self, partition: Partition, offset: int, end: int, limit: int, head: Head | None = None
    ) -> Sequence[Extent]:
        """Extents that follow one another from `offset` on, below `end`; never none.

        `head` may be old: what has left its tail since is in the index. Raises OutOfRange.
        """
        for _ in range(LOOKS):
            head = head or await self.head(partition)
            if head.tail and (found := run_from(head.tail, offset, end)):
                return found
            indexed = await self._stores.ledger.extents(partition, offset, limit)
            if found := run_from([*indexed, *head.tail], offset, end):
                return found
            head = await self.head(partition)
            if offset < head.log_start:
                raise OutOfRange(head.log_start, head.next_offset)
        raise Unavailable(f"{partition}: the index changes at {offset}")

    async def batch_at(self, partition: Partition, offset: int) -> BatchHeader | None:
        """The header of the batch that begins there, if it is still in the log. Raises Missing."""
        head = await self.head(partition)
        if not head.log_start <= offset < head.next_offset:
            return None
        found = await self.extents_from(partition, offset, offset + 1, 1, head)
        data = await read(self._stores.objects, cut(found[0], offset, 1))
        return next((h for _, h in headers(data) if h.base_offset == offset), None)

    async def load(self, ranges: Sequence[Range]) -> list[Piece]:
        """The bytes of a plan, all at once. Raises Missing if the log moved on meanwhile."""
        objects = self._stores.objects
        if len(ranges) == 1:
            return [await piece(objects, ranges[0])]
        return await asyncio.gather(*(piece(objects, one) for one in ranges))


def indexed_end(head: Head) -> int:
    """Up to where all is in the index, and can be swapped there."""
    return head.tail[0].base if head.tail else head.next_offset


def _next_look(left: int, found: Sequence[Extent]) -> int:
    """As many as are wanted still, if they are as large as those before."""
    size = sum(extent.size for extent in found)
    return min(LONGEST_LOOK, 1 + left * len(found) // max(1, size))


def _headers_in(data: Buffer) -> Iterator[tuple[int, BatchHeader]]:
    """Of all batches that begin in it; the last may be cut."""
    position = 0
    while position + HEADER_SIZE <= len(data):
        header = read_header(data, position)
        yield position, header
        position += header.size
