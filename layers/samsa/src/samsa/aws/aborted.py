"""The aborted transactions of a partition: one item each, by the offset of its marker.

While a marker is in the head's tail, its transaction is in the head too (`head_items.py`). The item
is stored before the marker's extent is, so a marker in the index has its item.

A process that stops for a while may store an item again that was forgotten. That does no harm: the
batches that it names are gone, and compaction keeps the marker for a while longer
(`log/compact_batch.py`). The next round forgets the item again.
"""

from collections.abc import Sequence
from contextlib import aclosing

from samsa.aws.calls import TableCalls, counted
from samsa.aws.items import Item, key, key_of, number, partition_pk
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
        pages = self.table.pages(partition_pk(partition), aborted_sk(offset), LAST, Limit=PAGE)
        async with aclosing(pages):
            async for page in pages:
                for one in map(read_aborted, page):
                    if one.first < end:
                        found.append(one)
                    if one.stable >= end:
                        return found
        return found

    @counted
    async def forget_aborted(self, partition: Partition, markers: Sequence[int]) -> None:
        await self.table.delete_all([aborted_key(partition, marker) for marker in markers])

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
