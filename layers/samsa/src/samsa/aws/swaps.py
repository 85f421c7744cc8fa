"""Swaps of runs of extents, and pending deletions of the objects that they replace.

A transaction has at most 100 parts, and a run may have thousands of extents. So one write voids
them all: it moves the head's `settled_to` past the run, and below it an extent counts only if a
swap wrote it. The items of the run then count no more, even if a late process adds them again, and
are removed afterwards (`litter` in the code). Extents that a swap wrote are replaced item by item,
each on condition that it is unchanged.

`settled_to` moves in order. Extents between it and the run are first rewritten as they are, by a
swap of their own. Entries in the head's tail are never part of a swap: readers take them from the
head, with their objects.
"""

import logging
from collections.abc import Sequence
from contextlib import suppress

from samsa.aws.calls import counted
from samsa.aws.errors import ConditionFailed
from samsa.aws.extents import ExtentCalls, neighbours
from samsa.aws.items import (
    Item,
    cursor_key,
    deletion_item,
    deletion_key,
    extent_item,
    extent_sk,
    head_key,
    key_of,
    number,
    partition_pk,
    read_deletion,
)
from samsa.aws.table import TRANSACTION
from samsa.ports import Extent, Head, Partition, PendingDeletion, UnknownPartition, deletions_of

log = logging.getLogger("samsa.aws")
SETTLED_AT_ONCE = 90
AS_IT_WAS = ("base", "offsets", "size", "object", "start", "shift", "id")
"""Attributes that tell a settled extent from any other that could have its key."""


class SwapCalls(ExtentCalls):
    @counted
    async def replace_extents(
        self, partition: Partition, old: Sequence[Extent], new: Sequence[Extent]
    ) -> bool:
        head = await self._settle_before(partition, old[0].base)
        end = old[-1].end
        if head is None or _untailed(head, end) < end:
            return False
        parts = self._parts(partition, head.settled_to, old, new)
        if len(parts) > TRANSACTION:
            log.warning("%s: a swap of %d parts is too large", partition, len(parts))
            return False
        try:
            await self.table.transact(parts)
        except ConditionFailed:
            return await self._is_done(partition, old, new)
        await self._remove_litter(partition, old[0].base, old[-1].end)
        return True

    async def _settle_before(self, partition: Partition, base: int) -> Head | None:
        """Move `settled_to` up to `base`, and return the head. None if that is not possible now:
        an entry below `base` is not indexed yet, and its extent would never count."""
        while (head := await self._head_now(partition)) is not None:
            first = max(head.settled_to, head.log_start)
            if first >= base:
                return head
            below = _untailed(head, base)
            some = neighbours(await self.extents(partition, first, SETTLED_AT_ONCE), first, below)
            if not some:
                return None
            # It fails if another process does the same: read the head again.
            with suppress(ConditionFailed):
                await self.table.transact(self._parts(partition, head.settled_to, some, some))
        return None

    async def _head_now(self, partition: Partition) -> Head | None:
        try:
            return await self._get_head(partition)
        except UnknownPartition:
            return None

    def _parts(
        self, partition: Partition, settled_to: int, old: Sequence[Extent], new: Sequence[Extent]
    ) -> list[Item]:
        coming = {extent.end: extent_item(partition, extent) for extent in new}
        parts = [
            self._replaced(partition, extent, coming.pop(extent.end, None))
            for extent in old
            if extent.base < settled_to
        ]
        parts += [self._put(_settled(item)) for item in coming.values()]
        if old[-1].end > settled_to:
            parts.append(self._settling(partition, settled_to, old))
        for key in {extent.key for extent in new} - {"", *(extent.key for extent in old)}:
            parts.append(self._taken(partition, key))
        return parts + [
            self._put(deletion_item(partition, deletion)) for deletion in deletions_of(old, new)
        ]

    def _put(self, item: Item) -> Item:
        return {"Put": {"TableName": self.table.name, "Item": item}}

    def _replaced(self, partition: Partition, extent: Extent, item: Item | None) -> Item:
        was = extent_item(partition, extent)
        condition = {
            "TableName": self.table.name,
            # `settled` excludes litter: items that another swap has voided and not yet removed.
            "ConditionExpression": "attribute_exists(settled) AND "
            + " AND ".join(
                f"#{name} = :{name}" if name in was else f"attribute_not_exists(#{name})"
                for name in AS_IT_WAS
            ),
            "ExpressionAttributeNames": {f"#{name}": name for name in AS_IT_WAS},
            "ExpressionAttributeValues": {f":{n}": was[n] for n in AS_IT_WAS if n in was},
        }
        if item is None:
            return {"Delete": {"Key": key_of(was), **condition}}
        return {"Put": {"Item": _settled(item), **condition}}

    def _settling(self, partition: Partition, settled_to: int, old: Sequence[Extent]) -> Item:
        """Holds if `settled_to` has not moved, and the log start is not past the first extent."""
        return {
            "Update": {
                "TableName": self.table.name,
                "Key": head_key(partition),
                "UpdateExpression": "SET settled_to = :end",
                "ConditionExpression": "log_start < :first AND "
                + ("settled_to = :was" if settled_to else "attribute_not_exists(settled_to)"),
                "ExpressionAttributeValues": {
                    ":end": number(old[-1].end),
                    ":first": number(old[0].end),
                    **({":was": number(settled_to)} if settled_to else {}),
                },
            }
        }

    def _taken(self, partition: Partition, key: str) -> Item:
        """Removes the announcement of a segment that the swap adds to the index."""
        return {
            "Delete": {
                "TableName": self.table.name,
                "Key": deletion_key(partition, key),
                "ConditionExpression": "announced = :yes",
                "ExpressionAttributeValues": {":yes": {"BOOL": True}},
            }
        }

    async def _is_done(
        self, partition: Partition, old: Sequence[Extent], new: Sequence[Extent]
    ) -> bool:
        if await self._head_now(partition) is None:
            return False
        found = await self.extents(partition, old[0].base, len(new))
        return found == list(new)

    async def _remove_litter(self, partition: Partition, base: int, end: int) -> None:
        """Delete extents in [base, end) that a swap has voided."""
        litter = await self.table.items(
            partition_pk(partition),
            extent_sk(base),
            extent_sk(end - 1),
            FilterExpression="attribute_not_exists(settled)",
            ProjectionExpression="pk, sk",
        )
        await self.table.delete_all([key_of(item) for item in litter])

    @counted
    async def announce(self, partition: Partition, deletion: PendingDeletion) -> None:
        try:
            await self.table.put_if(deletion_item(partition, deletion), "attribute_not_exists(pk)")
        except ConditionFailed:
            return

    @counted
    async def pending_deletions(self, partition: Partition, limit: int) -> list[PendingDeletion]:
        items = await self.table.first_items(
            limit, partition_pk(partition), "D#", "D$", Limit=limit
        )
        return [read_deletion(item) for item in items]

    @counted
    async def condemn(self, partition: Partition, name: str, since: int) -> bool:
        try:
            await self.table.call(
                "update_item",
                Key=deletion_key(partition, name),
                UpdateExpression="SET since = :since, announced = :no",
                ConditionExpression="attribute_exists(pk)",
                ExpressionAttributeValues={":since": number(since), ":no": {"BOOL": False}},
            )
        except ConditionFailed:
            return False
        return True

    @counted
    async def forget_deletion(self, partition: Partition, name: str) -> None:
        item = await self.table.get(deletion_key(partition, name))
        if item is None:
            return
        deletion = read_deletion(item)
        if name.startswith("after ") and deletion.base < deletion.end:
            # Litter that the swap did not get to remove, or that a late process has added since.
            await self._remove_litter(partition, deletion.base, deletion.end)
        await self.table.call("delete_item", Key=key_of(item))

    @counted
    async def cursor(self, partition: Partition, name: str) -> int:
        item = await self.table.get(cursor_key(partition, name))
        return int(item["value"]["N"]) if item else 0

    @counted
    async def move_cursor(self, partition: Partition, name: str, value: int) -> None:
        key = cursor_key(partition, name)
        if value == 0:
            await self.table.call("delete_item", Key=key)
        else:
            await self.table.call("put_item", Item={**key, "value": number(value)})


def _untailed(head: Head, end: int) -> int:
    """The offset, at most `end`, below which the tail has no entries. It will get none there,
    because new entries are added at the end of the log."""
    return min([end, *(entry.base for entry in head.tail)])


def _settled(item: Item) -> Item:
    return {**item, "settled": {"BOOL": True}}
