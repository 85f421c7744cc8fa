"""Rules to take out of the log, one at a time: with any of them gone the simulation must object."""

from collections.abc import Callable, Generator
from types import MethodType
from typing import Any, NamedTuple

from samsa.log.admit import Fate, Outcome, Refusal, refused
from samsa.log.append import Appender, Layout, Slot
from samsa.log.core import Log
from samsa.log.extents import describe
from samsa.log.fence import NO_TIMESTAMP
from samsa.log.stores import partition_prefix, slot_key
from samsa.log.tokens import Token
from samsa.ports import Confirmed, Extent, Head, Partition
from samsa.records import filler, read_header

from .ledger import Item, SimLedger
from .objects import SimObjects


def untouched(log: Log) -> None:
    """The log as it is."""


class Rules(NamedTuple):
    break_log: Callable[[Log], None] = untouched
    ledger: type[SimLedger] = SimLedger
    objects: type[SimObjects] = SimObjects


SOUND = Rules()
BROKEN: dict[str, Rules] = {}
"""By what is done instead of the rule."""


def instead(what: str) -> Callable[[Callable[[Log], None]], Callable[[Log], None]]:
    def register(break_log: Callable[[Log], None]) -> Callable[[Log], None]:
        BROKEN[what] = Rules(break_log)
        return break_log

    return register


def put(owner: Any, method: Callable[..., Any]) -> None:
    setattr(owner, method.__name__, MethodType(method, owner))


# The model's own


@instead("acknowledge before the confirm")
def _(log: Log) -> None:
    async def _commit(
        self: Appender, partition: Partition, slot: Slot, layout: Layout
    ) -> int | None:
        put = self._stores.objects.put_if_absent
        if await self._stores.insist(lambda: put(layout.extent.key, layout.parts)):
            return 0
        return 0 if await self._is_ours(partition, layout.extent.key, layout) else None

    put(log._appender, _commit)


class Counter(Head):
    visible_end = Head.next_offset


class CounterIsEnd(SimLedger):
    def head(self, partition: Partition) -> Head:
        return Counter(*super().head(partition))


BROKEN["take the counter for the visible end"] = Rules(ledger=CounterIsEnd)


@instead("answer a duplicate without looking")
def _(log: Log) -> None:
    async def _duplicate(self: Any, partition: Any, version: Any, draft: Any, header: Any) -> Any:
        return Outcome(draft.find(header).base, -1)

    put(log._appender._producers, _duplicate)


@instead("bind after a batch that is not stored")
def _(log: Log) -> None:
    async def _may_follow(self: Any, *batch: Any) -> None:
        return None

    put(log._appender._producers, _may_follow)


@instead("sweep what is not indexed")
def _(log: Log) -> None:
    async def _delete_below(self: Any, partition: Partition, log_start: int) -> None:
        extents = await self._stores.ledger.extents(partition, log_start, 1_000)
        head = await self._stores.ledger.head(partition)
        kept = {extent.key for extent in extents}
        open_keys = {slot_key(partition, base) for base in head.inflight.values()}
        below = slot_key(partition, head.visible_end)
        keys = [k async for k in self._stores.objects.list(partition_prefix(partition), below)]
        await self._stores.objects.delete([k for k in keys if k not in kept | open_keys])

    put(log.retainer, _delete_below)


# The write-once cell


class Overwriting(SimObjects):
    def put_if_absent(self, key: str, data: bytes) -> bool:
        self.held.pop(key, None)
        return super().put_if_absent(key, data)


BROKEN["overwrite an object"] = Rules(objects=Overwriting)


@instead("take any object at our key for ours")
def _(log: Log) -> None:
    async def _is_ours(self: Any, *slot: Any) -> bool:
        return True

    put(log._appender, _is_ours)


@instead("answer for a slot that someone else closed, without looking")
def _(log: Log) -> None:
    async def _ask(self: Any, partition: Any, slot: Any, own: Any, confirmed: Confirmed) -> int:
        return confirmed.head.log_start

    put(log._appender, _ask)


@instead("answer for a slot that has aged out")
def _(log: Log) -> None:
    ask = log._appender._ask

    async def _ask(self: Any, partition: Any, slot: Any, own: Any, confirmed: Confirmed) -> Any:
        young = confirmed._replace(head=confirmed.head._replace(log_start=0))
        return await ask(partition, slot, own, young)

    put(log._appender, _ask)


# The fence


@instead("close a stale slot without filling it")
def _(log: Log) -> None:
    async def _fill(self: Any, partition: Partition, token: str, base: int) -> Extent:
        empty = filler(base, Token.parse(token).offsets, NO_TIMESTAMP)
        return describe(partition, base, [(0, read_header(empty))], 0)

    put(log.fencer, _fill)


@instead("index filler without looking what is there")
def _(log: Log) -> None:
    async def _fill(self: Any, partition: Partition, token: str, base: int) -> Extent:
        empty = filler(base, Token.parse(token).offsets, NO_TIMESTAMP)
        await self._stores.objects.put_if_absent(slot_key(partition, base), [empty])
        return describe(partition, base, [(0, read_header(empty))], 0)

    put(log.fencer, _fill)


@instead("never fence")
def _(log: Log) -> None:
    async def fence(self: Any, *slot: Any) -> None:
        return None

    put(log.fencer, fence)


class ClosedByName(SimLedger):
    """A reserve whose answer was lost may come again after a fence: one token, two slots."""

    def _is_open(self, item: Item, token: str, extent: Extent) -> bool:
        return token in item.inflight


BROKEN["close by the token alone, whatever slot it names now"] = Rules(ledger=ClosedByName)


# The ledger


class LastWriteWins(SimLedger):
    def bind(
        self, partition: Partition, producer_id: int, state: bytes, after: int, expires_at: int
    ) -> bool:
        bound = self.item(partition).producers.get(producer_id)
        version = bound.version if bound else 0
        return super().bind(partition, producer_id, state, version, expires_at)


BROKEN["bind without comparing"] = Rules(ledger=LastWriteWins)


class IndexFirst(SimLedger):
    """Whoever confirms first writes the index, closed slot or not, and nobody checks it."""

    def confirm(
        self, partition: Partition, token: str, extent: Extent
    ) -> Generator[None, None, Confirmed]:
        item = self.item(partition)
        item.extents.pop(extent.end - 1, None)
        if extent.end - 1 in item.lasts:
            item.lasts.remove(extent.end - 1)
        self._index(partition, item, extent)
        return (yield from super().confirm(partition, token, extent))


BROKEN["index again what was indexed, on every confirm"] = Rules(ledger=IndexFirst)


class ForgetfulReserve(SimLedger):
    """A reserve that is repeated opens a second slot under the same token."""

    def reserve(self, partition: Partition, token: str, count: int) -> Head:
        self.item(partition).inflight.pop(token, None)
        return super().reserve(partition, token, count)


BROKEN["reserve again under an open token"] = Rules(ledger=ForgetfulReserve)


# Producers


@instead("bind a batch again before the one that shared its fenced slot")
def _(log: Log) -> None:
    producers = log._appender._producers
    judged = producers._duplicate

    async def _duplicate(self: Any, partition: Any, version: Any, draft: Any, header: Any) -> Any:
        outcome = await judged(partition, version, draft, header)
        if outcome == refused(Refusal.OUT_OF_ORDER):
            draft.rebind(draft.find(header), header)
            return None
        return outcome

    put(producers, _duplicate)


@instead("trust what this process stored, whatever others have bound since")
def _(log: Log) -> None:
    producers = log._appender._producers
    look = producers._fate

    async def _fate(self: Any, partition: Any, version: Any, entry: Any, header: Any) -> Fate:
        if (partition, header.producer_id) in self._known:
            return Fate.STORED
        fate: Fate = await look(partition, version, entry, header)
        return fate

    put(producers, _fate)


@instead("bind again what may still be written")
def _(log: Log) -> None:
    producers = log._appender._producers
    look = producers._fate

    async def _fate(self: Any, *batch: Any) -> Fate:
        fate: Fate = await look(*batch)
        return Fate.FILLED if fate is Fate.OPEN else fate

    put(producers, _fate)


# Retention


@instead("delete objects before log_start has passed them")
def _(log: Log) -> None:
    retainer = log.retainer
    sweep = retainer._sweep

    async def retain(self: Any, partition: Partition, rules: Any) -> int:
        head = await self._reader.head(partition)
        start = await self._new_start(partition, head, rules)
        if start > head.log_start:
            await self._delete(partition_prefix(partition), slot_key(partition, start))
            head = await self._stores.ledger.advance_start(partition, start)
        await sweep(partition, head)
        return head.log_start

    put(retainer, retain)


@instead("count what is there before looking where the log starts")
def _(log: Log) -> None:
    reader = log.reader

    async def _repair(self: Any, partition: Partition, offset: int) -> Extent:
        head = await self._stores.ledger.head(partition)
        before = await self._stores.ledger.extent_before(partition, offset)
        base = before.end if before else head.log_start
        extent: Extent = await self._describe_slot(partition, base)
        await self._stores.ledger.index(partition, extent)
        return extent

    put(reader, _repair)
