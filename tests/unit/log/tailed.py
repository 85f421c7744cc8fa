"""A log whose head has a tail, as heads in DynamoDB do: entries that are not in the index yet."""

from dataclasses import dataclass

from unit.log.given import PARTITION, Given

from samsa.local.memory import MemoryObjects
from samsa.local.object_journal import ObjectJournal
from samsa.local.sqlite import SqliteLedger
from samsa.log.stores import Limits
from samsa.ports import Extent, Head, Partition, Topic


class TailLedger(SqliteLedger):
    def __init__(self) -> None:
        super().__init__(":memory:")
        self.tail: list[Extent] = []

    async def head(self, partition: Partition) -> Head:
        head = await super().head(partition)
        return head._replace(tail=tuple(sorted(self.tail, key=lambda entry: entry.base)))

    async def unsettle(self, *bases: int) -> None:
        """Back from the index into the tail."""
        for extent in await self.extents(PARTITION, 0, 10_000):
            if extent.base in bases:
                self.tail.append(extent)
                self._db.execute("DELETE FROM extents WHERE base = ?", (extent.base,))

    async def settle(self, but: int | None = None) -> None:
        """Into the index first, and then out of the tail."""
        for entry in [entry for entry in self.tail if entry.base != but]:
            await self.index(PARTITION, entry)
            self.tail.remove(entry)


class TailJournal(ObjectJournal):
    async def settle(self, partition: Partition) -> None:
        assert isinstance(self._ledger, TailLedger)
        await self._ledger.settle()


@dataclass
class Tailed(Given):
    ledger: TailLedger

    def a_journal(self) -> ObjectJournal:
        return TailJournal(self.ledger, self.objects, self.nonce)


async def a_tailed_log(**limits: int) -> Tailed:
    ledger = TailLedger()
    await ledger.create_topic(Topic("letters", PARTITION.topic_id, 1, 0))
    return Tailed(ledger, MemoryObjects(), Limits(**limits))


async def keep_in_the_ledger(given: Given, *bases: int) -> None:
    """The bytes of these extents, in the place of their objects."""
    for extent in await given.index():
        if extent.base in bases:
            data = bytes(await given.objects.get(extent.key, extent.start, extent.size))
            inline = extent._replace(key="", start=0, data=data)
            given.ledger._db.execute("DELETE FROM extents WHERE base = ?", (extent.base,))
            await given.ledger.index(PARTITION, inline)
            await given.objects.delete([extent.key])
