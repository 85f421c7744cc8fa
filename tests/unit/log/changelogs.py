"""A log of keyed records and transactions, compacted, and what is in it."""

from collections.abc import Callable
from typing import NamedTuple

from unit.log.compacting import HOUR, TIME, keyed
from unit.log.given import PARTITION, Given, a_log

from samsa.log.append import Marker
from samsa.log.compact import Compacted
from samsa.log.compact_plan import Compaction
from samsa.log.extents import read, whole
from samsa.log.layout import Batch
from samsa.ports import Aborted, End
from samsa.records import BatchHeader, Record, headers, read_header, records
from samsa.records.control import commits
from samsa.records.header import TRANSACTIONAL

GRACE = 60_000
EAGER = Compaction(dirty_ratio=0, active_ms=0, tombstones_ms=HOUR)
Pair = tuple[bytes, bytes | None]


async def a_changelog(**limits: int) -> Given:
    given = await a_log(sweep_grace_ms=GRACE, **limits)
    given.clock.now = TIME
    return given


async def put(given: Given, *pairs: Pair) -> int:
    return await _append(given, Batch(*_made(keyed(0, *pairs))))


class Producer:
    """A transactional producer. Each of its transactions has the next serial."""

    def __init__(self, given: Given, producer_id: int = 7) -> None:
        self.given = given
        self.id = producer_id
        self.epoch = 0
        self.serial = 1
        self.sequence = 0

    async def put(self, *pairs: Pair) -> int:
        data = keyed(
            0,
            *pairs,
            attributes=TRANSACTIONAL,
            producer_id=self.id,
            producer_epoch=self.epoch,
            base_sequence=self.sequence,
        )
        self.sequence += len(pairs)
        return await _append(self.given, Batch(*_made(data), self.serial))

    async def end(self, how: End, next_epoch: bool = False) -> None:
        """With the next epoch, as clients of version 2 end theirs."""
        if next_epoch:
            self.epoch, self.sequence = self.epoch + 1, 0
        await self.given.log.mark(PARTITION, Marker(self.id, self.epoch, self.serial, how))
        self.serial += 1

    async def commit(self, *pairs: Pair) -> int:
        base = await self.put(*pairs)
        await self.end(End.COMMIT)
        return base

    async def abort(self, *pairs: Pair) -> int:
        base = await self.put(*pairs)
        await self.end(End.ABORT)
        return base


def _made(data: bytes) -> tuple[BatchHeader, memoryview]:
    batch = bytearray(data)
    return read_header(batch), memoryview(batch)


async def _append(given: Given, batch: Batch) -> int:
    (outcome,) = await given.log.append_once(PARTITION, [batch])
    assert outcome.refusal is None
    return outcome.offset


async def compact(
    given: Given,
    later: int = 1,
    rules: Compaction = EAGER,
    out_of_time: Callable[[], bool] = lambda: False,
) -> Compacted | None:
    given.clock.now += later
    return await given.log.compactor.compact(PARTITION, rules, out_of_time)


async def tick(given: Given, later: int = 1, rules: Compaction = EAGER) -> Compacted | None:
    """A round that is due: something was written before it."""
    await put(given, (b"tick", b"%d" % given.clock.now))
    return await compact(given, later, rules)


class Stored(NamedTuple):
    header: BatchHeader
    records: list[Record]
    commits: bool | None
    """None: it is not a marker."""


async def stored(given: Given) -> list[Stored]:
    """Every batch of the index, in order, and not only what is still in the log."""
    found: list[Stored] = []
    for extent in await given.index():
        data = bytes(await read(given.objects, whole(extent)))
        for position, header in headers(data):
            batch = data[position : position + header.size]
            kind = commits(batch) if header.is_control else None
            found.append(Stored(header, list(records(batch, 0)), kind))
    return found


async def markers(given: Given) -> dict[int, bool]:
    """By offset: whether it commits."""
    found = await stored(given)
    return {one.header.base_offset: one.commits for one in found if one.commits is not None}


async def listed(given: Given) -> list[Aborted]:
    head = await given.log.head(PARTITION)
    found = await given.ledger.aborted(PARTITION, 0, head.next_offset)
    return sorted({*found, *head.aborted})


Delivered = list[tuple[int, bytes | None, bytes | None]]


async def committed(given: Given, offset: int = 0, max_bytes: int = 10**6) -> Delivered:
    """What a client with read_committed delivers from an offset on: offsets, keys and values."""
    found: Delivered = []
    while True:
        plan = await given.log.plan(PARTITION, offset, max_bytes, committed=True)
        if not plan.ranges:
            return found
        data = b"".join(map(bytes, await given.log.load(plan.ranges)))
        found += delivered(data, plan.aborted, offset)
        assert plan.ranges[-1].end_offset > offset
        offset = plan.ranges[-1].end_offset


def delivered(data: bytes, aborted: list[Aborted], offset: int) -> Delivered:
    """From one answer: the client leaves out what the listed transactions hold, up to their
    markers, and knows nothing of earlier answers."""
    waiting = sorted(aborted, key=lambda one: one.first)
    aborting: set[int] = set()
    found: Delivered = []
    for position, header in headers(data):
        while waiting and waiting[0].first < header.next_offset:
            aborting.add(waiting.pop(0).producer_id)
        if header.is_control:
            if not commits(data[position : position + header.size]):
                aborting.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in aborting):
            some = records(data, position)
            found += [(one.offset, one.key, one.value) for one in some if one.offset >= offset]
    return found
