"""Time look-ups: the extents' greatest timestamps, then those of their marks, then the batches."""

from collections.abc import AsyncIterator, Iterator
from itertools import chain
from typing import NamedTuple

from samsa.ports import Buffer, Extent, Head, Partition
from samsa.records.batch import headers
from samsa.records.record import Record, first_at_or_after, records

from .extents import Range, sections
from .read import Reader
from .stores import Stores

PAGE = 1_000


class Found(NamedTuple):
    offset: int
    timestamp: int


class Times:
    def __init__(self, stores: Stores, reader: Reader) -> None:
        self._stores = stores
        self._reader = reader

    async def at(self, partition: Partition, timestamp: int) -> Found | None:
        """The first visible record whose timestamp is `timestamp` or later."""
        extent = await self._stores.ledger.extent_at_time(partition, timestamp)
        while extent is not None:
            head = await self._reader.glance(partition)
            found = await self._first(extent, timestamp, head.log_start)
            if found is not None:
                return _visible(found, head)
            # log_start lies inside it, and the record that made it newer lies below.
            extent = await self._next(partition, extent.end, timestamp)
        return None

    async def newest(self, partition: Partition) -> Found | None:
        """The first visible record with the greatest timestamp."""
        extent = await self._stores.ledger.newest_extent(partition)
        if extent is None or extent.max_timestamp < 0:
            return None
        head = await self._reader.glance(partition)
        if extent.base >= head.log_start:
            return _visible(await self._first(extent, extent.max_timestamp, 0), head)
        newest = await self._newest_from(extent, head.log_start)
        async for later in self._extents(partition, extent.end):
            newest = max(newest, later.max_timestamp)
        return await self.at(partition, newest) if newest >= 0 else None

    async def _first(
        self, extent: Extent, timestamp: int, start_offset: int
    ) -> tuple[int, int] | None:
        """A segment is read a little at a time, from where it comes to the time."""
        for section in sections(extent, timestamp):
            if section.end_offset > start_offset:
                data = await self._read(section)
                if found := first_at_or_after(data, timestamp, start_offset):
                    return found
        return None

    async def _newest_from(self, extent: Extent, start_offset: int) -> int:
        newest = -1
        for section in sections(extent, -1):
            if section.end_offset > start_offset:
                found = _records(await self._read(section))
                times = (record.timestamp for record in found if record.offset >= start_offset)
                newest = max(newest, max(times, default=-1))
        return newest

    async def _read(self, section: Range) -> Buffer:
        return await self._stores.objects.get(section.key, section.start, section.length)

    async def _next(self, partition: Partition, offset: int, timestamp: int) -> Extent | None:
        async for extent in self._extents(partition, offset):
            if extent.max_timestamp >= timestamp:
                return extent
        return None

    async def _extents(self, partition: Partition, offset: int) -> AsyncIterator[Extent]:
        while found := await self._stores.ledger.extents(partition, offset, PAGE):
            for extent in found:
                yield extent
            offset = found[-1].end


def _visible(found: tuple[int, int] | None, head: Head) -> Found | None:
    return Found(*found) if found is not None and found[0] < head.visible_end else None


def _records(data: Buffer) -> Iterator[Record]:
    return chain.from_iterable(records(data, position) for position, _ in headers(data))
