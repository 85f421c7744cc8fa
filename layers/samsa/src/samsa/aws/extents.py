"""The index of a partition: one item per extent, sorted by last offset.

A search by time reads the index from its start. Only clients that seek by time need it; a second
index would make every append more expensive.

A late process may add the extent of an entry that has been merged already. Such an item is ignored:
it is below the head's `settled_to` and has no `settled` attribute. Readers read the head first. If
a swap happens in between, they find the old item or the new one, and both are right.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from samsa.aws.aborted import AbortedCalls
from samsa.aws.calls import counted
from samsa.aws.errors import ConditionFailed
from samsa.aws.items import (
    LAST_EXTENT,
    Item,
    extent_item,
    extent_sk,
    key_of,
    number,
    partition_pk,
    read_extent,
)
from samsa.ports import Extent, Partition, UnknownPartition


class ExtentCalls(AbortedCalls):
    @counted
    async def index(self, partition: Partition, extent: Extent) -> None:
        with suppress(ConditionFailed):
            await self.table.put_if(extent_item(partition, extent), "attribute_not_exists(pk)")

    async def _valid(self, partition: Partition) -> dict[str, Any]:
        """Parameters of a query that leave out extents that do not count."""
        if partition not in self._seen:
            with suppress(UnknownPartition):
                await self._get_head(partition)
        seen = self._seen.get(partition)
        settled_to = seen.settled_to if seen else 0
        if not settled_to:
            return {}
        return {
            "FilterExpression": "(attribute_exists(settled) OR #base >= :settled_to)",
            "ExpressionAttributeNames": {"#base": "base"},
            "ExpressionAttributeValues": {":settled_to": number(settled_to)},
        }

    @counted
    async def extents(self, partition: Partition, offset: int, limit: int) -> list[Extent]:
        items = await self.table.first_items(
            limit,
            partition_pk(partition),
            extent_sk(offset),
            LAST_EXTENT,
            Limit=limit,
            **await self._valid(partition),
        )
        return uncovered(map(read_extent, items))

    @counted
    async def extent_at_time(self, partition: Partition, timestamp: int) -> Extent | None:
        head = await self._get_head(partition)
        valid = await self._valid(partition)
        filters = [valid.pop("FilterExpression")] if valid else []
        values: Item = valid.pop("ExpressionAttributeValues", {})
        items = await self.table.first_items(
            1,
            partition_pk(partition),
            extent_sk(head.log_start),
            LAST_EXTENT,
            FilterExpression=" AND ".join([*filters, "max_timestamp >= :timestamp"]),
            ExpressionAttributeValues={**values, ":timestamp": number(timestamp)},
            **valid,
        )
        return read_extent(items[0]) if items else None

    @counted
    async def newest_extent(self, partition: Partition) -> Extent | None:
        head = await self._get_head(partition)
        newest: Extent | None = None
        async for page in self.table.pages(
            partition_pk(partition),
            extent_sk(head.log_start),
            LAST_EXTENT,
            **await self._valid(partition),
        ):
            for extent in map(read_extent, page):
                if newest is None or extent.max_timestamp > newest.max_timestamp:
                    newest = extent
        return newest

    @counted
    async def drop_extents(self, partition: Partition, below: int) -> int:
        if below <= 0:
            return 0
        # First: as long as there are extents, this call is repeated.
        await self._drop_aborted(partition, below)
        items = await self.table.items(
            partition_pk(partition),
            extent_sk(0),
            extent_sk(below - 1),
            ProjectionExpression="pk, sk",
        )
        await self.table.delete_all([key_of(item) for item in items])
        return len(items)


def uncovered(extents: Iterable[Extent]) -> list[Extent]:
    """Without extents that a later one contains: a swap wrote that one after the head was read."""
    found: list[Extent] = []
    for extent in extents:
        while found and found[-1].base >= extent.base:
            found.pop()
        found.append(extent)
    return found


def neighbours(extents: Iterable[Extent], offset: int, below: int) -> list[Extent]:
    """The extents from `offset` on, without a gap between them, that begin before `below`."""
    found: list[Extent] = []
    for extent in extents:
        if extent.base > offset or extent.base >= below:
            break
        found.append(extent)
        offset = extent.end
    return found
