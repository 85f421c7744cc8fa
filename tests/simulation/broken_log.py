"""Rules of append, bind, fence and read to take out, one at a time."""

from dataclasses import replace as changed
from typing import Any

from samsa.log.admit import Fate, Outcome, Refusal, refused
from samsa.log.append import Slot
from samsa.log.core import Log
from samsa.log.extents import describe
from samsa.log.fence import NO_TIMESTAMP
from samsa.log.layout import Layout
from samsa.log.producers import Draft
from samsa.log.stores import slot_key
from samsa.log.tokens import Token
from samsa.ports import Confirmed, Extent, Partition
from samsa.records import BatchHeader, filler, read_header

from .rules import always, instead, replace
from .setting import Setting

# Append


@instead("acknowledge before the confirm")
def acknowledge_early(log: Log) -> None:
    appender = log._appender
    stores = appender._stores

    async def commit(_: Any, partition: Partition, slot: Slot, layout: Layout) -> int | None:
        key = layout.extent.key
        put = await stores.insist(lambda: stores.objects.put_if_absent(key, layout.parts))
        return 0 if put or await appender._is_ours(partition, key, layout) else None

    replace(appender, "_commit", commit)


@instead("take any object at our key for ours")
def trust_the_key(log: Log) -> None:
    always(log._appender, "_is_ours", True)


def crowded(setting: Setting) -> Setting:
    """Several processes serve the same producers, and slots are fenced early."""
    return changed(
        setting,
        processes=3,
        idempotent=3,
        grouped=0,
        single=0,
        readers=1,
        mergers=0,
        janitors=0,
        partitions=1,
        journal=False,
        limits=changed(setting.limits, fence_after_ms=300),
    )


@instead("take any filler for our own blanks", crowded)
def trust_the_blanks(log: Log) -> None:
    async def is_ours(original: Any, partition: Partition, key: str, layout: Layout) -> bool:
        return layout.first_own is None or await original(partition, key, layout)

    replace(log._appender, "_is_ours", is_ours)


@instead("answer for a slot that someone else closed, without looking")
def never_ask(log: Log) -> None:
    always(log._appender, "_ask", 0)


@instead("answer for a slot that has aged out")
def ask_too_late(log: Log) -> None:
    async def ask(
        original: Any, partition: Partition, slot: Slot, own: BatchHeader, confirmed: Confirmed
    ) -> int | None:
        young = confirmed._replace(head=confirmed.head._replace(log_start=0))
        answer: int | None = await original(partition, slot, own, young)
        return answer

    replace(log._appender, "_ask", ask)


@instead("acknowledge what came second")
def ignore_the_journal(log: Log) -> None:
    async def append(original: Any, *what: Any) -> list[int]:
        partition, _, screening, outcomes = what
        base = (await log._stores.ledger.head(partition)).next_offset
        if await original(*what):
            for number in screening.admitted:
                outcomes[number] = Outcome(base, 0)
        return []

    if log._appender._at_once is not None:
        replace(log._appender._at_once, "append", append)


@instead("try again at once when nobody knows whether it is stored")
def insist_on_the_journal(log: Log) -> None:
    journal = log._stores.journal
    if journal is not None:

        async def append(original: Any, *what: Any) -> Any:
            return await log._stores.insist(original, *what)

        replace(log._appender._at_once, "append", append)


# Bind


@instead("answer a duplicate without looking whether it is stored")
def trust_duplicates(log: Log) -> None:
    async def duplicate(
        _: Any, partition: Partition, version: int, draft: Draft, header: BatchHeader
    ) -> Outcome:
        entry = draft.find(header)
        assert entry is not None
        return Outcome(entry.base, -1)

    replace(log._appender._producers, "_duplicate", duplicate)


@instead("bind after a batch that is not stored")
def overtake(log: Log) -> None:
    always(log._appender._producers, "_may_follow", None)


@instead("bind again what may still be written")
def bind_while_open(log: Log) -> None:
    async def fate(original: Any, *batch: Any) -> Fate:
        found: Fate = await original(*batch)
        return Fate.FILLED if found is Fate.OPEN else found

    replace(log._appender._producers, "_fate", fate)


@instead("bind a batch again before the one that shared its fenced slot")
def bind_out_of_order(log: Log) -> None:
    async def duplicate(
        original: Any, partition: Partition, version: int, draft: Draft, header: BatchHeader
    ) -> Outcome | None:
        outcome: Outcome | None = await original(partition, version, draft, header)
        entry = draft.find(header)
        if outcome != refused(Refusal.OUT_OF_ORDER) or entry is None:
            return outcome
        draft.rebind(entry, header)
        return None

    replace(log._appender._producers, "_duplicate", duplicate)


@instead("believe a key that may have been swept since")
def believe_swept_keys(log: Log) -> None:
    always(log._appender._producers, "_in_log", True)


# Fence and read


@instead("never fence")
def never_fence(log: Log) -> None:
    always(log.fencer, "fence", None)


@instead("close a stale slot without filling it")
def close_unfilled(log: Log) -> None:
    async def fill(_: Any, partition: Partition, token: str, base: int) -> Extent:
        return _as_filler(partition, token, base)

    replace(log.fencer, "_fill", fill)


@instead("index filler without looking what is there")
def index_blindly(log: Log) -> None:
    async def fill(original: Any, partition: Partition, token: str, base: int) -> Extent:
        await original(partition, token, base)
        return _as_filler(partition, token, base)

    replace(log.fencer, "_fill", fill)


def _as_filler(partition: Partition, token: str, base: int) -> Extent:
    empty = filler(base, Token.parse(token).offsets, NO_TIMESTAMP)
    return describe(slot_key(partition, base), base, [(0, read_header(empty))], 0)


@instead("repair an offset without looking whether the log has moved past it")
def repair_anything(log: Log) -> None:
    reader = log.reader
    ledger = reader._stores.ledger

    async def repair(_: Any, partition: Partition, offset: int) -> Extent:
        before = await ledger.extent_before(partition, offset)
        base = before.end if before else (await ledger.head(partition)).log_start
        extent = await reader._describe_slot(partition, base)
        await ledger.index(partition, extent)
        return extent

    replace(reader, "_repair", repair)
