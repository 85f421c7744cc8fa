"""Time look-ups: the extents' greatest timestamps first, then the batches of one object."""

from collections.abc import AsyncIterator, Iterator
from itertools import chain
from typing import NamedTuple

from samsa.ports import Buffer, Extent, Head, Partition
from samsa.records.batch import headers
from samsa.records.record import Record, first_at_or_after, records

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
            head, data = await self._look_into(partition, extent)
            found = first_at_or_after(data, timestamp, head.log_start)
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
        head, data = await self._look_into(partition, extent)
        if extent.base >= head.log_start:
            return _visible(first_at_or_after(data, extent.max_timestamp), head)
        times = [r.timestamp for r in _records(data) if r.offset >= head.log_start]
        times += [later.max_timestamp async for later in self._extents(partition, extent.end)]
        return await self.at(partition, max(times)) if max(times, default=-1) >= 0 else None

    async def _look_into(self, partition: Partition, extent: Extent) -> tuple[Head, Buffer]:
        head = await self._reader.glance(partition)
        return head, await self._stores.objects.get(extent.key, extent.start, extent.size)

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
