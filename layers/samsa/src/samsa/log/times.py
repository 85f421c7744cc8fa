"""Time look-ups: the extents' greatest timestamps first, then the batches of one object."""

from typing import NamedTuple

from samsa.ports import Extent, Partition
from samsa.records.record import first_at_or_after

from .read import Reader
from .stores import Stores


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
        return await self._within(partition, extent, timestamp) if extent else None

    async def newest(self, partition: Partition) -> Found | None:
        """The first visible record with the greatest timestamp."""
        extent = await self._stores.ledger.newest_extent(partition)
        if extent is None or extent.max_timestamp < 0:
            return None
        return await self._within(partition, extent, extent.max_timestamp)

    async def _within(self, partition: Partition, extent: Extent, timestamp: int) -> Found | None:
        head = await self._reader.glance(partition)
        data = await self._stores.objects.get(extent.key)
        found = first_at_or_after(data, timestamp)
        if found is None or found[0] >= head.visible_end:
            return None
        return Found(max(found[0], head.log_start), found[1])
