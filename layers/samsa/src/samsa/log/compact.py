"""Compaction: keeps the newest record of every key. Offsets never change.

A round notes the keys of the part that was not cleaned before, as many as the key map may hold.
Then it goes through the log from its start, group by group. A group that changes is written under a
fresh key and swapped into the index in one step; other groups are left as they are. When all groups
up to the end of the noted part are clean, that end is stored.

A crash after any step leaves a log in which every key still has its newest record. The round then
starts again; groups that were cleaned do not change twice. A swap that finds the index changed (by
a merge, retention, another janitor) ends the round: if it continued, the time of tombstones would
run while older records may still lie below them. A round that ends early, for that reason or
because its time is up, stores how far it came, and the next round continues there. That one notes
the same keys again. So a round notes only as much of the log as can be read in a fraction of the
time that a function has.

A round ends below the oldest open transaction. It removes the records of aborted transactions, but
the ledger still lists these: a reader may have planned on the extents before. They are forgotten by
a later round, when they have been gone for a grace time; the round after that starts the time of
their markers (`compact_batch.py`).
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

from samsa.ports import Buffer, Extent, FileRange, Head, Missing, Partition, Piece
from samsa.records.errors import CorruptBatch
from samsa.records.header import HEADER_SIZE, read_header
from samsa.records.spans import Steps

from .compact_batch import Sieve
from .compact_keys import KeyMap
from .compact_parts import CompactionPart, CompactionParts
from .compact_plan import NEVER_MS, Compaction, Survey
from .compact_progress import GoneSince, Progress
from .compact_slice import Cleaned, clean_all
from .extents import Range, cut, describe, join, piece, read, whole
from .producers import ProducerState
from .read import OutOfRange, Reader, indexed_end
from .segments import swap_in
from .stores import Stores

T = TypeVar("T")
PIECE_BYTES = 4 * 1024 * 1024


class Compacted(NamedTuple):
    """What a round did: bytes of what was rewritten, before and after."""

    before: int
    after: int
    finished: bool
    """False: another process changed the index meanwhile, or time was up."""
    to: int = 0
    """Up to where the log is clean of what the round noted."""
    more: bool = False
    """There were more keys than one round may note."""


class Runs(Protocol):
    """Does work in small slices, and lets other work run in between."""

    def __call__(self, steps: Steps[T], /) -> Awaitable[T]: ...


async def in_the_loop(steps: Steps[T]) -> T:
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found: T = done.value
            return found
        await asyncio.sleep(0)


class Compactor:
    def __init__(self, stores: Stores, reader: Reader) -> None:
        self._stores = stores
        self._reader = reader
        self.progress = Progress(stores.ledger)
        self._gone = GoneSince(stores.ledger)
        self._parts = CompactionParts(stores, reader)
        self.run: Runs = in_the_loop
        self._garbled: set[Partition] = set()
        """Partitions in which the last round found a corrupt batch."""

    async def compact(
        self,
        partition: Partition,
        rules: Compaction,
        out_of_time: Callable[[], bool] = lambda: False,
    ) -> Compacted | None:
        """One round, or the rest of an unfinished one. None: it is not due."""
        head = await self._reader.head(partition)
        if head.tail:
            await self._stores.journal.settle(partition)
            head = await self._reader.head(partition)
        cleaned = await self.progress.cleaned(partition)
        if head.stable_end <= max(cleaned, head.log_start):
            return None
        try:
            done = await self._round(partition, head, cleaned, rules, out_of_time)
        except (OutOfRange, Missing):
            return Compacted(0, 0, finished=False)  # retention was faster
        except CorruptBatch:
            # A late put may have left other bytes under a swept key: raise only at the second try.
            if partition in self._garbled:
                raise
            self._garbled.add(partition)
            return Compacted(0, 0, finished=False)
        self._garbled.discard(partition)
        return done

    async def _round(
        self,
        partition: Partition,
        head: Head,
        cleaned: int,
        rules: Compaction,
        out_of_time: Callable[[], bool],
    ) -> Compacted | None:
        clock, limits = self._stores.clock, self._stores.limits
        found = Survey(cleaned, clock.now_ms(), rules, head.stable_end)
        async for extent in self._parts.extents(partition, head.log_start, indexed_end(head)):
            if not found.add(extent):
                break
        begun = await self.progress.end(partition)
        if 0 < begun <= found.start:
            await self.progress.give_up(partition, begun)
        goes_on = found.start < begun <= found.end
        if not goes_on and not found.is_due(await self._waiting_since(found)):
            return None
        end = begun if goes_on else found.reach
        gone = await self._gone.below(partition, found.now_ms, limits.sweep_grace_ms)
        noting = self._parts.of(partition, head, found.start, end)
        keys = await self._note_keys(noting, found.start, end, out_of_time)
        asked_for = await self._asked_for(partition, found.now_ms)
        markers_ms = max(rules.tombstones_ms, limits.sweep_grace_ms)
        sieve = keys.sieve(found.now_ms, rules.tombstones_ms, asked_for, markers_ms)
        left_at = await self.progress.at(partition, keys.end)
        start = max(head.log_start, left_at)
        log = self._parts.of(partition, head, start, keys.end, rules.span_ms)
        done = await self._clean(partition, log, sieve, out_of_time, gone or 0)
        if done.finished:
            await self.progress.finish(partition, keys.end, left_at > 0)
            if gone is not None and head.aborted_to > head.log_start:
                await self._gone.note(partition, keys.end, clock.now_ms())
            return done._replace(more=keys.end < found.end)
        if done.to > start:
            await self.progress.leave(partition, keys.end, done.to)
        return done

    async def _waiting_since(self, found: Survey) -> int:
        if found.oldest is None or found.rules.max_lag_ms == NEVER_MS:
            return NEVER_MS
        header = whole(found.oldest).part(0, HEADER_SIZE, found.oldest.end)
        first = read_header(await read(self._stores.objects, header._replace(shift=0)))
        # Timestamps may lie in the future: then the records wait since they were stored.
        stored_at = found.oldest.stored_at
        return min(first.base_timestamp, stored_at) if first.base_timestamp >= 0 else stored_at

    async def _note_keys(
        self,
        log: AsyncIterator[CompactionPart],
        start: int,
        end: int,
        out_of_time: Callable[[], bool],
    ) -> KeyMap:
        keys = KeyMap(self._stores.limits.key_map_bytes, start)
        async for extents, aborted in log:
            await self.run(keys.add(_buffers(await self._load(extents)), end, aborted))
            if keys.full or out_of_time():
                break
        return keys

    async def _asked_for(self, partition: Partition, now_ms: int) -> set[int]:
        """Read after the head: the producers of all that the head shows were bound before."""
        producers = await self._stores.ledger.producers(partition, now_ms)
        return {
            entry.base for bound in producers.values() for entry in ProducerState.of(bound).entries
        }

    async def _clean(
        self,
        partition: Partition,
        log: AsyncIterator[CompactionPart],
        sieve: Sieve,
        out_of_time: Callable[[], bool],
        gone: int,
    ) -> Compacted:
        """`gone`: aborted transactions whose markers are below this are forgotten."""
        before = after = to = 0
        async for group, aborted in log:
            if out_of_time():
                return Compacted(before, after, False, to)
            steps = clean_all(_buffers(await self._load(group)), sieve._replace(aborted=aborted))
            cleaned = await self.run(steps)
            if cleaned.changed:
                new = await self._replace(partition, group, cleaned)
                if new is None:
                    return Compacted(before, after, False, to)
                before += sum(extent.size for extent in group)
                after += new.size
            if forgotten := aborted.below(gone):
                await self._stores.ledger.forget_aborted(partition, forgotten, gone)
            to = group[-1].end
        return Compacted(before, after, True, to)

    async def _replace(
        self, partition: Partition, group: Sequence[Extent], cleaned: Cleaned
    ) -> Extent | None:
        """None: another process was faster."""

        def extent_of(key: str) -> Extent:
            stored_at = max(extent.stored_at for extent in group)
            new = describe(key, group[0].base, cleaned.placed, stored_at)
            assert new.end == group[-1].end, f"{partition}: {group[-1].end} became {new.end}"
            return new

        parts = _in_pieces(cleaned.parts)
        return await swap_in(self._stores, partition, group, parts, extent_of)

    async def _load(self, group: Sequence[Extent]) -> list[Piece]:
        """Local files are only opened here: they are read where the work is done."""
        objects = self._stores.objects
        load = read if objects.remote else piece
        return await asyncio.gather(*(load(objects, wanted) for wanted in _ranges(group)))


def _ranges(group: Sequence[Extent]) -> list[Range]:
    ranges: list[Range] = []
    for extent in group:
        offset = extent.base
        while offset < extent.end:
            taken = cut(extent, offset, PIECE_BYTES)
            if ranges and ranges[-1].length + taken.length <= PIECE_BYTES:
                join(ranges, taken)
            else:
                ranges.append(taken)
            offset = taken.end_offset
    return ranges


async def _in_pieces(parts: Sequence[Buffer]) -> AsyncIterator[Buffer]:
    """Join small batches to larger pieces."""
    first, size = 0, 0
    for number, part in enumerate(parts, 1):
        size += len(part)
        if size >= PIECE_BYTES or number == len(parts):
            yield b"".join(parts[first:number])
            first, size = number, 0


def _buffers(pieces: Sequence[Piece]) -> Iterator[Buffer]:
    for one in pieces:
        if isinstance(one, FileRange):
            yield one.read()
            one.close()
        else:
            yield one
