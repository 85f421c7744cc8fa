"""Append: reserve, bind, write once, confirm, and only then answer (DESIGN section 3)."""

from collections.abc import Sequence
from typing import NamedTuple

from samsa.ports import Appended, Confirmed, Missing, Partition, Unavailable
from samsa.records.batch import BatchHeader, headers, is_compacted_filler

from .admit import Outcome, Producers, Refusal, Screening, refused
from .at_once import TRIES, AtOnce
from .fence import Fencer
from .layout import Batch, Layout, lay_out, places
from .read import Reader
from .stores import Stores, slot_key
from .tokens import Token


class Slot(NamedTuple):
    token: str
    base: int


class Appender:
    def __init__(
        self, stores: Stores, reader: Reader, fencer: Fencer, producers: Producers
    ) -> None:
        self._stores = stores
        self._reader = reader
        self._fencer = fencer
        self._producers = producers
        journal = stores.journal
        self._at_once = AtOnce(stores, journal, fencer, producers) if journal else None

    @property
    def is_far(self) -> bool:
        """Whether each append talks to stores that are not on this machine."""
        return self._at_once is None

    async def append(self, partition: Partition, batches: Sequence[Batch]) -> list[Outcome]:
        """An outcome for each batch, in order. Raises Unavailable: then nothing is known."""
        outcomes: dict[int, Outcome] = {}
        waiting = [(number, batch.header) for number, batch in enumerate(batches)]
        try:
            for attempt in range(self._stores.limits.attempts):
                screening = await self._producers.screen(partition, waiting)
                outcomes.update(screening.settled)
                if not screening.admitted:
                    break
                way = self._through_a_slot
                if self._at_once is not None and attempt < TRIES:
                    way = self._at_once.append
                again = await way(partition, batches, screening, outcomes)
                if not again:
                    break
                waiting = [(number, batches[number].header) for number in again]
            else:
                outcomes.update((number, refused(Refusal.TRY_AGAIN)) for number, _ in waiting)
                self._producers.failed(partition, [header for _, header in waiting])
        except BaseException:
            self._producers.failed(partition, [batch.header for batch in batches])
            raise
        return [outcomes[number] for number in range(len(batches))]

    async def _through_a_slot(
        self,
        partition: Partition,
        batches: Sequence[Batch],
        screening: Screening,
        outcomes: dict[int, Outcome],
    ) -> list[int]:
        """The batches that must start again, if the slot was lost or they were."""
        admitted = screening.admitted
        slot = await self._reserve(partition, sum(batches[n].header.offsets for n in admitted))
        try:
            bases = places(slot.base, batches, admitted)
            binding = await self._producers.bind(partition, screening.planned, bases, slot.base)
            now = self._stores.clock.now_ms()
            key = slot_key(partition, slot.base)
            layout = lay_out(key, slot.base, batches, bases, binding.lost, now)
            log_start = await self._commit(partition, slot, layout)
        except Exception:
            # This writer gives up. Closing the slot now spares everyone the wait for its fence.
            self._fencer.soon(partition, slot.token, slot.base)
            raise
        if log_start is None:
            return admitted
        self._producers.stored(partition, binding.known)
        for number in admitted:
            if number not in binding.lost:
                outcomes[number] = Outcome(bases[number], log_start)
        return sorted(binding.lost)

    async def _reserve(self, partition: Partition, offsets: int) -> Slot:
        stores = self._stores
        token = str(Token(offsets, stores.clock.now_ms(), stores.nonce()))
        head = await stores.insist(stores.ledger.reserve, partition, token, offsets)
        if len(head.inflight) > 1:
            self._fencer.look(partition, head)
        return Slot(token, head.inflight[token])

    async def _commit(self, partition: Partition, slot: Slot, layout: Layout) -> int | None:
        """log_start once the slot is ours for good; None if it was fenced."""
        stores, key = self._stores, layout.extent.key
        put = await stores.insist(stores.objects.put_if_absent, key, layout.parts)
        if not put and not await self._is_ours(partition, key, layout):
            self._fencer.soon(partition, slot.token, slot.base)
            return None
        confirmed = await stores.insist(stores.ledger.confirm, partition, slot.token, layout.extent)
        stores.wakeups.wake(partition, confirmed.head.watchers, _appended(confirmed, layout))
        if confirmed.was_open or layout.first_own is None:
            return confirmed.head.log_start
        return await self._ask(partition, slot, layout.first_own, confirmed)

    async def _is_ours(self, partition: Partition, key: str, layout: Layout) -> bool:
        """The put was refused: by an earlier try of ours whose answer was lost, or by a fence."""
        own = layout.first_own
        if own is None:
            return False  # nothing is lost; and who closes the slot will see how it was filled
        try:
            data = await self._stores.insist(self._stores.objects.get, key)
        except Missing:
            data = b""
        if any(_same(header, own) for _, header in headers(data)):
            return True
        return await self._was_merged(partition, layout.extent.base, own)

    async def _was_merged(self, partition: Partition, slot: int, own: BatchHeader) -> bool:
        """Nothing of ours is at our key; but the slot may have been closed with it, merged, and
        swept since. Then the index leads to it, and at the key may be what somebody late put."""
        await self._is_in_log(partition, own)
        try:
            stored = await self._stores.insist(
                self._reader.batch_at, partition, own.base_offset, slot
            )
        except Missing:
            return False
        return _is_stored(partition, stored, own)

    async def _ask(
        self, partition: Partition, slot: Slot, own: BatchHeader, confirmed: Confirmed
    ) -> int | None:
        """Someone closed our slot: look at it as any reader would."""
        if own.base_offset < confirmed.head.log_start:
            # It may be ours only because the key was free again: readers saw something else.
            raise _aged(partition, own)
        try:
            stored = await self._stores.insist(
                self._reader.batch_at, partition, own.base_offset, slot.base
            )
        except Missing:
            await self._is_in_log(partition, own)
            return None
        return confirmed.head.log_start if _is_stored(partition, stored, own) else None

    async def _is_in_log(self, partition: Partition, own: BatchHeader) -> None:
        """If the log has moved past our slot, which someone closed, nobody can tell what it held,
        and the client must ask again."""
        head = await self._stores.insist(self._stores.ledger.head, partition)
        if own.base_offset < head.log_start:
            raise _aged(partition, own)


def _appended(confirmed: Confirmed, layout: Layout) -> Appended | None:
    """What the slot holds, if this writer closed it and no open slot hides it."""
    head, extent = confirmed.head, layout.extent
    if not confirmed.was_open or head.visible_end < extent.end:
        return None
    return Appended(extent.base, head.visible_end, head.log_start, layout.parts)


def _aged(partition: Partition, own: BatchHeader) -> Unavailable:
    return Unavailable(f"{partition}: the slot at {own.base_offset} has aged out")


def _is_stored(partition: Partition, stored: BatchHeader, own: BatchHeader) -> bool:
    """Whether the index leads to our batch: as it was, or what compaction left of it. Where that
    left nothing, nobody can tell it from a fence, and the client must ask again."""
    if is_compacted_filler(stored):
        raise Unavailable(f"{partition}: what was at {own.base_offset} is compacted away")
    if stored.count == 0 and own.producer_id >= 0:
        return _names(stored) == _names(own)
    return stored.base_offset == own.base_offset and stored.count > 0


def _names(header: BatchHeader) -> tuple[int, int, int, int]:
    return header.base_offset, header.producer_id, header.producer_epoch, header.base_sequence


def _same(stored: BatchHeader, own: BatchHeader) -> bool:
    """Only a slot's owner writes data to it; anyone else writes filler, which has no records."""
    return (stored.base_offset, stored.crc, stored.count) == (own.base_offset, own.crc, own.count)
