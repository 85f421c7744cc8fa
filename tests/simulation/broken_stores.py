"""Rules of the ledger, the objects and retention to take out, one at a time."""

from typing import Any

from samsa.log.core import Log
from samsa.log.retain import Retention
from samsa.log.stores import partition_prefix, slot_key
from samsa.ports import Extent, Head, Partition

from .ledger import Item, SimLedger
from .objects import SimObjects
from .rules import BROKEN, Rules, instead, replace


class CounterHead(Head):
    visible_end = Head.next_offset


class CounterIsEnd(SimLedger):
    def head(self, partition: Partition) -> Head:
        return CounterHead(*super().head(partition))


class ClosesByName(SimLedger):
    """A reserve whose answer was lost may come again after its fence: one token, two slots."""

    def _is_open(self, item: Item, token: str, extent: Extent) -> bool:
        return token in item.inflight


class ReservesTwice(SimLedger):
    def reserve(self, partition: Partition, token: str, count: int) -> Head:
        self.item(partition).inflight.pop(token, None)
        return super().reserve(partition, token, count)


class BindsBlindly(SimLedger):
    def bind(
        self, partition: Partition, producer_id: int, state: bytes, after: int, expires_at: int
    ) -> bool:
        bound = self.item(partition).producers.get(producer_id)
        version = bound.version if bound else 0
        return super().bind(partition, producer_id, state, version, expires_at)


class Overwrites(SimObjects):
    def put_if_absent(self, key: str, data: bytes) -> bool:
        self.held.pop(key, None)
        return super().put_if_absent(key, data)


BROKEN["take the counter for the visible end"] = Rules(ledger=CounterIsEnd)
BROKEN["close by the token alone, whatever slot it names now"] = Rules(ledger=ClosesByName)
BROKEN["reserve a second slot under an open token"] = Rules(ledger=ReservesTwice)
BROKEN["bind without comparing"] = Rules(ledger=BindsBlindly)
BROKEN["overwrite an object"] = Rules(objects=Overwrites)


@instead("sweep what is not indexed")
def sweep_unindexed(log: Log) -> None:
    ledger, objects = log._stores.ledger, log._stores.objects

    async def below(_: Any, partition: Partition, log_start: int) -> bool:
        indexed = {extent.key for extent in await ledger.extents(partition, log_start, 1_000)}
        end = slot_key(partition, (await ledger.head(partition)).visible_end)
        keys = [key async for key in objects.list(partition_prefix(partition), end)]
        await objects.delete([key for key in keys if key not in indexed])
        return True

    replace(log.sweeper, "_below", below)


@instead("sweep a slot that log_start lies in")
def sweep_inside(log: Log) -> None:
    async def floor(_: Any, partition: Partition, head: Head) -> int:
        return head.log_start

    replace(log.retainer, "_floor", floor)


@instead("delete records from inside a slot that is not indexed")
def start_unindexed(log: Log) -> None:
    async def index_around(_: Any, partition: Partition, offset: int, head: Head) -> None:
        pass

    replace(log.retainer, "_index_around", index_around)


@instead("delete objects before log_start has passed them")
def sweep_first(log: Log) -> None:
    retainer = log.retainer

    async def retain(original: Any, partition: Partition, rules: Retention) -> int:
        head = await log.head(partition)
        start = await retainer._new_start(partition, head, rules)
        await log.sweeper.delete_all(partition_prefix(partition), slot_key(partition, start))
        answer: int = await original(partition, rules)
        return answer

    replace(retainer, "retain", retain)
