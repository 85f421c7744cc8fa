"""Reading: a prefix of the log, planned from the ledger and fetched from the objects.

A plan names ranges of objects and reads none of them, so that whoever asked can send them straight
from the file, from a cache, or as references to S3; only who starts between two marked batches has
the place of its first one looked up. A slot below the visible end that has no extent was confirmed
by someone who stopped before indexing it: it is found at its own key, and indexed.
"""

import asyncio
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from samsa.ports import Buffer, Extent, Head, Missing, Partition, Piece, Unavailable
from samsa.records.batch import BatchHeader, headers, is_compacted_filler, read_header
from samsa.records.errors import CorruptBatch
from samsa.records.header import HEADER_SIZE

from .extents import Range, begins_at, cut, describe_object, join
from .fence import Fencer
from .stores import Stores, slot_key

FIRST_LOOK = 16
NEAR_LOOK = 2
"""On this machine: entries are joined there, and to look again costs little."""
LONGEST_LOOK = 64
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
    def __init__(self, stores: Stores, fencer: Fencer) -> None:
        self._stores = stores
        self._fencer = fencer

    async def head(self, partition: Partition) -> Head:
        """The head, once what is stale on it has been closed."""
        head, closing = await self._look(partition)
        if not closing:
            return head
        await asyncio.gather(*map(asyncio.shield, closing))
        return await self._stores.ledger.head(partition)

    async def glance(self, partition: Partition) -> Head:
        """The same, but as it is if closing takes long: a store may be down, and what lies below
        an open slot can be read all the same."""
        head, closing = await self._look(partition)
        if not closing:
            return head
        await asyncio.wait(closing, timeout=self._stores.limits.closing_ms / 1000)
        return await self._stores.ledger.head(partition)

    async def _look(self, partition: Partition) -> "tuple[Head, list[asyncio.Task[None]]]":
        head = await self._stores.ledger.head(partition)
        return head, self._fencer.look(partition, head) if head.inflight else []

    async def plan(self, partition: Partition, offset: int, max_bytes: int) -> Plan:
        """What a reader at `offset` gets: whole batches up to `max_bytes`, and at least one."""
        head, known = await self._at(partition, offset)
        ranges = await self._ranges(partition, offset, head.visible_end, max_bytes, known)
        return Plan(head.log_start, head.visible_end, ranges)

    async def outline(self, partition: Partition, offset: int) -> Plan:
        """The same for a reader who gets nothing: where the log begins and ends."""
        head, _ = await self._at(partition, offset)
        return Plan(head.log_start, head.visible_end, [])

    async def _at(self, partition: Partition, offset: int) -> tuple[Head, Sequence[Extent]]:
        """The head, and what is known of the log from `offset` on without looking it up."""
        tail = self._stores.journal.tail(partition, offset) if self._stores.journal else None
        head = tail.head if tail else await self.glance(partition)
        # Above the visible end may lie what was acknowledged already, behind a slot that is open.
        if not head.log_start <= offset <= head.next_offset:
            raise OutOfRange(head.log_start, head.visible_end)
        return head, tail.extents if tail else ()

    async def _ranges(
        self,
        partition: Partition,
        offset: int,
        end: int,
        max_bytes: int,
        known: Sequence[Extent],
    ) -> list[Range]:
        ranges: list[Range] = []
        left, most = max_bytes, self._stores.limits.objects_per_read
        look = FIRST_LOOK if self._stores.objects.far else NEAR_LOOK
        while offset < end and len(ranges) < most and (left > 0 or not ranges):
            found = known or await self.extents_from(partition, offset, end, look)
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
        length = min(section.length, max(LOOK_BYTES, max_bytes))
        try:
            data = await self._stores.objects.get(section.key, section.start, length)
            batches = [b for b in _headers_in(data) if b[1].next_offset > offset]
        except (Missing, CorruptBatch):
            return taken  # the log has moved on: whoever loads it finds out
        if not batches:
            return taken
        skipped = batches[0][0]
        if taken.length - skipped <= max_bytes:
            return Range(taken.key, taken.start + skipped, taken.length - skipped, taken.end_offset)
        fits = [(at, header) for at, header in batches if at + header.size - skipped <= max_bytes]
        at, last = fits[-1] if fits else batches[0]
        return Range(taken.key, taken.start + skipped, at + last.size - skipped, last.next_offset)

    async def extents_from(
        self, partition: Partition, offset: int, end: int, limit: int
    ) -> Sequence[Extent]:
        """Extents that follow one another from `offset` on, all below `end`; never none."""
        found = await self._stores.ledger.extents(partition, offset, limit)
        joined: list[Extent] = []
        for extent in found:
            if extent.base >= end or (joined and extent.base != joined[-1].end):
                break
            if not joined and extent.base > offset:
                break
            joined.append(extent)
        return joined or [await self._repair(partition, offset)]

    async def _repair(self, partition: Partition, offset: int) -> Extent:
        """Index the slot that holds `offset`, a visible one that has no extent."""
        head = await self._stores.ledger.head(partition)
        if offset < head.log_start:
            raise OutOfRange(head.log_start, head.visible_end)
        # A slot that log_start lies in was indexed before: whoever sees the one finds the other.
        found = await self._stores.ledger.extents(partition, offset, 1)
        if found and found[0].base <= offset:
            return found[0]
        _is_unsettled(partition, offset, head)
        before = await self._stores.ledger.extent_before(partition, offset)
        # Someone slow may have indexed a slot that had aged out: nothing follows that one.
        base = max(before.end if before else 0, head.log_start)
        while base <= offset:
            try:
                extent = await self._describe_slot(partition, base)
            except Missing:
                await self._has_moved(partition, base)
                return await self._repair(partition, offset)
            await self._stores.ledger.index(partition, extent)
            base = extent.end
        return extent

    async def _describe_slot(self, partition: Partition, base: int) -> Extent:
        data = await self._stores.objects.get(slot_key(partition, base))
        return describe_object(partition, base, data, self._stores.clock.now_ms())

    async def _has_moved(self, partition: Partition, base: int) -> None:
        if base >= (await self._stores.ledger.head(partition)).log_start:
            raise Unavailable(f"{partition}: no object for the visible offset {base}")

    async def load(self, ranges: Sequence[Range]) -> list[Piece]:
        """The bytes of a plan, all at once. Raises Missing if the log moved on meanwhile."""
        objects = self._stores.objects
        if len(ranges) == 1:
            only = ranges[0]
            return [await objects.piece(only.key, only.start, only.length)]
        return await asyncio.gather(*(objects.piece(r.key, r.start, r.length) for r in ranges))

    async def batch_at(self, partition: Partition, offset: int, slot: int) -> BatchHeader:
        """The header of the batch that starts at `offset` in a closed slot, or of the filler that
        took its place when it was compacted away. Raises Missing."""
        for header in await self._batches_around(partition, offset, slot):
            if header.base_offset == offset:
                return header
            if header.base_offset < offset < header.next_offset and is_compacted_filler(header):
                return header
        raise Missing(f"{partition}: no batch starts at {offset}")

    async def _batches_around(
        self, partition: Partition, offset: int, slot: int
    ) -> list[BatchHeader]:
        """From where the index leads, and still leads afterwards: under a key that was swept in
        between there is nothing, or what somebody late put there."""
        found = await self._stores.ledger.extents(partition, offset, 1)
        while True:
            try:
                batches = await self._batches_in(partition, offset, slot, found)
            except (Missing, CorruptBatch):
                batches = []
            before, found = found, await self._stores.ledger.extents(partition, offset, 1)
            if found == before:
                return batches

    async def _batches_in(
        self, partition: Partition, offset: int, slot: int, found: Sequence[Extent]
    ) -> list[BatchHeader]:
        if found and found[0].base <= offset:
            where = cut(found[0], offset, 1)
            data = await self._stores.objects.get(where.key, where.start, where.length)
        else:
            _is_unsettled(partition, offset, await self._stores.ledger.head(partition))
            data = await self._stores.objects.get(slot_key(partition, slot))
        return [header for _, header in headers(data)]


def _is_unsettled(partition: Partition, offset: int, head: Head) -> None:
    """Where all is indexed, an offset without an extent is one whose extent is being swapped. At
    the slot's own key may be what somebody put there after it was swept."""
    if offset < head.settled_to:
        raise Unavailable(f"{partition}: the index changes at {offset}")


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
