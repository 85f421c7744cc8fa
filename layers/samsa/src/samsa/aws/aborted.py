"""The aborted transactions of a partition: one item each, by the offset of its marker.

While a marker is in the head's tail, its transaction is in the head too (`head_items.py`). The item
is stored before the marker's extent is, so a marker in the index has its item.

A process that stops for a while may store an item again that was forgotten. It must not be listed:
if its marker is gone too, a reader would leave out what the producer wrote later. So the head says
below which marker all are forgotten (`aborted_from`), and readers read the head first. The
item stays until retention drops it.
"""

from collections.abc import Sequence
from contextlib import aclosing, suppress

from samsa.aws.calls import TableCalls, counted
from samsa.aws.errors import ConditionFailed
from samsa.aws.items import Item, head_key, key, key_of, number, partition_pk
from samsa.ports import Aborted, Partition

PAGE = 100
LAST = "A#" + "9" * 20


def aborted_sk(marker: int) -> str:
    return f"A#{max(marker, 0):020d}"


def aborted_key(partition: Partition, marker: int) -> Item:
    return key(partition_pk(partition), aborted_sk(marker))


def aborted_item(partition: Partition, aborted: Aborted) -> Item:
    return {
        **aborted_key(partition, aborted.marker),
        "producer": number(aborted.producer_id),
        "first": number(aborted.first),
        "stable": number(aborted.stable),
    }


def read_aborted(item: Item) -> Aborted:
    return Aborted(
        marker=int(item["sk"]["S"].removeprefix("A#")),
        producer_id=int(item["producer"]["N"]),
        first=int(item["first"]["N"]),
        stable=int(item["stable"]["N"]),
    )


class AbortedCalls(TableCalls):
    async def store_aborted(self, partition: Partition, aborted: Aborted) -> None:
        await self.table.call("put_item", Item=aborted_item(partition, aborted))

    @counted
    async def aborted(self, partition: Partition, offset: int, end: int) -> list[Aborted]:
        found: list[Aborted] = []
        seen = self._seen.get(partition)
        first = max(offset, seen.aborted_from) if seen else offset
        pages = self.table.pages(partition_pk(partition), aborted_sk(first), LAST, Limit=PAGE)
        async with aclosing(pages):
            async for page in pages:
                for one in map(read_aborted, page):
                    if one.first < end:
                        found.append(one)
                    if one.stable >= end:
                        return found
        return found

    @counted
    async def forget_aborted(
        self, partition: Partition, markers: Sequence[int], below: int = 0
    ) -> None:
        await self._list_none_below(partition, below)
        await self.table.delete_all([aborted_key(partition, marker) for marker in markers])

    async def _list_none_below(self, partition: Partition, below: int) -> None:
        """Before any item is removed: what is stored again later must not be listed."""
        seen = self._seen.get(partition)
        if below <= (seen.aborted_from if seen else 0):
            return
        with suppress(ConditionFailed):  # the topic is gone, or another process was faster
            await self.table.call(
                "update_item",
                Key=head_key(partition),
                UpdateExpression="SET aborted_from = :below",
                ConditionExpression="attribute_exists(next_offset) AND "
                "(attribute_not_exists(aborted_from) OR aborted_from < :below)",
                ExpressionAttributeValues={":below": number(below)},
            )

    async def _drop_aborted(self, partition: Partition, below: int) -> None:
        seen = self._seen.get(partition)
        if seen and not seen.aborted_to and below <= seen.next_offset:
            return  # there never was one below
        items = await self.table.items(
            partition_pk(partition),
            aborted_sk(0),
            aborted_sk(below - 1),
            ProjectionExpression="pk, sk",
        )
        await self.table.delete_all([key_of(item) for item in items])
