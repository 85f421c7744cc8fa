"""The index of a partition: one item per extent, in the order of their last offsets.

Looking for a time reads the index from its start. Only clients that seek by time ask for it; a
second index would make every append dearer.
"""

from samsa.aws.calls import TableCalls, counted
from samsa.aws.items import LAST_EXTENT, extent_sk, key_of, number, partition_pk, read_extent
from samsa.ports import Extent, Partition


class ExtentCalls(TableCalls):
    @counted
    async def index(self, partition: Partition, extent: Extent) -> None:
        await self._add_extent(partition, extent)

    @counted
    async def extents(self, partition: Partition, offset: int, limit: int) -> list[Extent]:
        items = await self.table.first_items(
            limit, partition_pk(partition), extent_sk(offset), LAST_EXTENT, Limit=limit
        )
        return [read_extent(item) for item in items]

    @counted
    async def extent_before(self, partition: Partition, offset: int) -> Extent | None:
        if offset <= 0:
            return None
        items = await self.table.first_items(
            1,
            partition_pk(partition),
            extent_sk(0),
            extent_sk(offset - 1),
            Limit=1,
            ScanIndexForward=False,
        )
        return read_extent(items[0]) if items else None

    @counted
    async def extent_at_time(self, partition: Partition, timestamp: int) -> Extent | None:
        head = await self._get_head(partition)
        items = await self.table.first_items(
            1,
            partition_pk(partition),
            extent_sk(head.log_start),
            LAST_EXTENT,
            FilterExpression="max_timestamp >= :timestamp",
            ExpressionAttributeValues={":timestamp": number(timestamp)},
        )
        return read_extent(items[0]) if items else None

    @counted
    async def newest_extent(self, partition: Partition) -> Extent | None:
        head = await self._get_head(partition)
        newest: Extent | None = None
        async for page in self.table.pages(
            partition_pk(partition), extent_sk(head.log_start), LAST_EXTENT
        ):
            for extent in map(read_extent, page):
                if newest is None or extent.max_timestamp > newest.max_timestamp:
                    newest = extent
        return newest

    @counted
    async def drop_extents(self, partition: Partition, below: int) -> int:
        if below <= 0:
            return 0
        items = await self.table.items(
            partition_pk(partition),
            extent_sk(0),
            extent_sk(below - 1),
            ProjectionExpression="pk, sk",
        )
        await self.table.delete_all([key_of(item) for item in items])
        return len(items)
