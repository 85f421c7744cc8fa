"""Reading: a read is planned from the ledger, and then loaded from the objects.

A plan names ranges of objects and reads none of them, so that they can be sent directly from the
file, from a cache, or as references to S3. The one exception: if the start lies between two marked
batches, the objects are read to find the position of the first batch.

The head is read first, then the index: an entry leaves the head's tail only when it is in the
index.

A reader with read_committed gets nothing at or above the last stable offset, and a list of the
aborted transactions that have batches in what it gets: it skips these batches itself.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import NamedTuple

from samsa.bounded import Bounded
from samsa.ports import (
    Aborted,
    Buffer,
    Extent,
    Head,
    Missing,
    Objects,
    Partition,
    Piece,
    Unavailable,
)
from samsa.records.batch import BatchHeader, headers, read_header
from samsa.records.errors import CorruptBatch
from samsa.records.header import HEADER_SIZE

from .extents import Range, begins_at, cut, join, piece, read, run_from
from .stores import Stores

HELD_BACK = 10_000
"""Partitions of which is known how many offsets readers are held back."""
MOST_WITH_ABORTED = 2 * 1024 * 1024
"""Bytes of a read that may have aborted transactions. The smallest one has 150 bytes, so an answer
lists some 14,000 of them at most."""
FIRST_LOOK = 16
NEAR_LOOK = 2
"""With a local ledger: its extents are joined already, and asking again is cheap."""
LONGEST_LOOK = 64
PAGE = 1_000
LOOKS = 3
"""Tries to read an index that a swap changes between two reads."""
LOOK_BYTES = 512 * 1024
"""Bytes to read between two marks. There are more only if the last batch there is large, and that
batch begins before this limit."""


class OutOfRange(Exception):
    def __init__(self, log_start: int, visible_end: int) -> None:
        super().__init__(f"the log is [{log_start}, {visible_end})")
        self.log_start = log_start
        self.visible_end = visible_end


class Plan(NamedTuple):
    log_start: int
    visible_end: int
    ranges: list[Range]
    stable_end: int = -1
    aborted: Sequence[Aborted] = ()
    """Aborted transactions that may have batches in the ranges. Only for read_committed."""
    waits_for: Mapping[int, int] = {}
    """The transactions that hold a read_committed reader back: as `Head.open_transactions`."""

    @property
    def size(self) -> int:
        return sum(r.length for r in self.ranges)

    @property
    def leaves_more(self) -> bool:
        """Whether the log has more after this plan."""
        end = self.stable_end if self.waits_for else self.visible_end
        return bool(self.ranges) and self.ranges[-1].end_offset < end


class Reader:
    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self.held_back = Bounded[Partition, int](HELD_BACK)
        """How many offsets lie above the last stable one, as read_committed readers saw it last.
        Only of partitions where there are any."""

    def _note_held_back(self, partition: Partition, offsets: int) -> None:
        if offsets:
            self.held_back.keep(partition, offsets)
        elif self.held_back:
            self.held_back.pop(partition, None)

    async def head(self, partition: Partition) -> Head:
        return await self._stores.ledger.head(partition)

    async def plan(
        self, partition: Partition, offset: int, max_bytes: int, committed: bool = False
    ) -> Plan:
        """What a reader at `offset` gets: whole batches up to `max_bytes`, and at least one.

        `committed`: only what is below the last stable offset.
        """
        head, known = await self._at(partition, offset)
        if committed:
            return await self._committed(partition, offset, head, max_bytes, known)
        ranges = await self._ranges(partition, offset, head, max_bytes, known)
        if ranges and ranges[-1].end_offset > head.next_offset:
            # A merge joined these extents with newer ones: read the head again for its end.
            head, _ = await self._at(partition, offset)
        return _plan(head, ranges)

    async def outline(self, partition: Partition, offset: int, committed: bool = False) -> Plan:
        """A plan without ranges, for a read that gets no bytes: where the log begins and ends."""
        head, _ = await self._at(partition, offset)
        plan = _plan(head, [])
        return plan._replace(waits_for=head.open_transactions) if committed else plan

    async def _committed(
        self,
        partition: Partition,
        offset: int,
        head: Head,
        max_bytes: int,
        known: Sequence[Extent],
    ) -> Plan:
        """Aborted transactions are looked up after the extents: what compaction removes, it forgets
        only after a grace time. What retention drops, it forgets at once."""
        end, may_have_aborted = head.stable_end, offset < head.aborted_to
        if may_have_aborted:
            max_bytes = min(max_bytes, MOST_WITH_ABORTED)
        self._note_held_back(partition, head.next_offset - end)
        ranges = await self._ranges(partition, offset, head, max_bytes, known, end)
        aborted: Sequence[Aborted] = ()
        if ranges and may_have_aborted:
            end = ranges[-1].end_offset
            aborted = await self.all_aborted(partition, offset, end, head)
        plan = _plan(head, ranges)
        return plan._replace(aborted=aborted, waits_for=head.open_transactions)

    async def aborted(
        self, partition: Partition, offset: int, end: int, head: Head
    ) -> Sequence[Aborted]:
        """The aborted transactions that may have batches in [offset, end), by marker."""
        found = await self._stores.ledger.aborted(partition, offset, end)
        newer = (one for one in head.aborted if one.marker >= offset and one.first < end)
        return sorted({*found, *newer})

    async def all_aborted(
        self, partition: Partition, offset: int, end: int, head: Head
    ) -> Sequence[Aborted]:
        """As `aborted`, and certainly all of them: retention forgets only those below the log's
        start. Raises OutOfRange if that lies above `offset` by now."""
        found = await self.aborted(partition, offset, end, head)
        head = await self.head(partition)
        if offset < head.log_start:
            raise OutOfRange(head.log_start, head.next_offset)
        return found

    async def _at(self, partition: Partition, offset: int) -> tuple[Head, Sequence[Extent]]:
        """The head, and the extents from `offset` on that are known without asking the ledger."""
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
        stable_end: int | None = None,
    ) -> list[Range]:
        ranges: list[Range] = []
        end = head.next_offset if stable_end is None else stable_end
        left, most = max_bytes, self._stores.limits.objects_per_read
        look = FIRST_LOOK if self._stores.objects.remote else NEAR_LOOK
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
                if taken.end_offset > end and stable_end is not None:
                    taken = await self._before(extent, taken, end)
                    if not taken.length:
                        return ranges
                join(ranges, taken)
                left -= taken.length
                if taken.end_offset < extent.end or left <= 0 or len(ranges) >= most:
                    return ranges
                offset = extent.end
            look = _next_look(left, found)
        return ranges

    async def _fitted(self, extent: Extent, offset: int, max_bytes: int, taken: Range) -> Range:
        """The range without the batches that end before the offset: Kafka does not send them, and
        some clients go back to the end of such a batch. Also without the batches that exceed
        `max_bytes`, if there is more than that between two marks."""
        section = cut(extent, offset, 1)
        length = section.length  # offsets can be shifted only in whole batches
        if not section.shift:
            length = min(length, max(LOOK_BYTES, max_bytes))
        try:
            data = await read(self._stores.objects, section.part(0, length, section.end_offset))
            batches = [b for b in _headers_in(data) if b[1].next_offset > offset]
        except (Missing, CorruptBatch):
            return taken  # the log has changed: loading the range will find that out
        if not batches:
            return taken
        skipped = batches[0][0]
        if taken.length - skipped <= max_bytes:
            return taken.part(skipped, taken.length - skipped, taken.end_offset)
        fits = [(at, header) for at, header in batches if at + header.size - skipped <= max_bytes]
        at, last = fits[-1] if fits else batches[0]
        return taken.part(skipped, at + last.size - skipped, last.next_offset)

    async def _before(self, extent: Extent, taken: Range, end: int) -> Range:
        """The range without the batches from `end` on, where a batch begins. Empty if the object is
        gone: the next try plans by a newer index."""
        section = cut(extent, end, 1)
        try:
            batches = headers(await read(self._stores.objects, section))
        except (Missing, CorruptBatch):
            return taken.part(0, 0, taken.end_offset)
        below = [at + one.size for at, one in batches if one.next_offset <= end]
        length = section.start - taken.start + max(below, default=0)
        return taken.part(0, max(0, length), end)

    async def extents_from(
        self, partition: Partition, offset: int, end: int, limit: int, head: Head | None = None
    ) -> Sequence[Extent]:
        """Extents that follow one another from `offset` on, below `end`; never none.

        `head` may be old: entries that left its tail since then are in the index. Raises
        OutOfRange.
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

    async def extents(self, partition: Partition, offset: int, head: Head) -> AsyncIterator[Extent]:
        """All extents from `offset` on, a page at a time. Raises OutOfRange."""
        end = head.next_offset
        while offset < end:
            for extent in await self.extents_from(partition, offset, end, PAGE, head):
                yield extent
                offset = extent.end

    async def batch_at(self, partition: Partition, offset: int) -> BatchHeader | None:
        """The header of the batch that begins there, if it is still in the log. Raises Missing."""
        head = await self.head(partition)
        if not head.log_start <= offset < head.next_offset:
            return None
        found = await self.extents_from(partition, offset, offset + 1, 1, head)
        data = await read(self._stores.objects, cut(found[0], offset, 1))
        return next((h for _, h in headers(data) if h.base_offset == offset), None)

    async def load(self, ranges: Sequence[Range], objects: Objects | None = None) -> list[Piece]:
        """The bytes of a plan, in parallel. Raises Missing if an object was deleted meanwhile."""
        objects = objects or self._stores.objects
        if len(ranges) == 1:
            return [await piece(objects, ranges[0])]
        return await asyncio.gather(*(piece(objects, one) for one in ranges))


def _plan(head: Head, ranges: list[Range]) -> Plan:
    return Plan(head.log_start, head.next_offset, ranges, head.stable_end)


def indexed_end(head: Head) -> int:
    """The offset below which everything is in the index, and can be swapped."""
    return head.tail[0].base if head.tail else head.next_offset


def _next_look(left: int, found: Sequence[Extent]) -> int:
    """How many extents to ask for next, if they are as large as the last ones."""
    size = sum(extent.size for extent in found)
    return min(LONGEST_LOOK, 1 + left * len(found) // max(1, size))


def _headers_in(data: Buffer) -> Iterator[tuple[int, BatchHeader]]:
    """Position and header of every batch that begins in the data; the last batch may be cut."""
    position = 0
    while position + HEADER_SIZE <= len(data):
        header = read_header(data, position)
        yield position, header
        position += header.size
