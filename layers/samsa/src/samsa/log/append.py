"""Append: judge the batches, lay them out, commit, and only then answer.

The journal stores the bytes and shows them in one commit, or does nothing (`ports/journal.py`).
This module decides which batches may be appended. It starts again if another process has committed
for one of the same producers meanwhile.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from samsa.ports import Appended, Claim, End, NotDone, Partition
from samsa.records.control import marker
from samsa.records.header import read_header

from .admit import KnownState, Outcome, Producers, Refusal, Screening, refused
from .layout import Batch, lay_out, move
from .producers import ProducerState
from .stores import Stores

NO_EPOCH = -1


class Marker(NamedTuple):
    """The marker that ends a producer's transaction in a partition."""

    producer_id: int
    epoch: int
    serial: int
    """Of the transaction."""
    end: End


class Appender:
    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._producers = Producers(stores)
        self.appended = 0
        """Offsets that were given out to batches, since this process began."""

    @property
    def is_remote(self) -> bool:
        """Whether each append talks to stores that are not on this machine."""
        return self._stores.journal.remote

    async def append(self, partition: Partition, batches: Sequence[Batch]) -> list[Outcome]:
        """An outcome for each batch, in order. Raises Unavailable: each may be stored or not."""
        outcomes: dict[int, Outcome] = {}
        waiting = list(enumerate(batches))
        try:
            for _ in range(self._stores.limits.attempts):
                screening = await self._producers.screen(partition, waiting)
                outcomes.update(screening.settled)
                admitted = screening.admitted
                if not admitted or await self._commit(partition, batches, screening, outcomes):
                    break
                waiting = [(number, batches[number]) for number in admitted]
            else:
                outcomes.update((number, refused(Refusal.TRY_AGAIN)) for number, _ in waiting)
                self._producers.failed(partition, [batch for _, batch in waiting])
        except BaseException:
            self._producers.failed(partition, batches)
            raise
        return [outcomes[number] for number in range(len(batches))]

    async def _commit(
        self,
        partition: Partition,
        batches: Sequence[Batch],
        screening: Screening,
        outcomes: dict[int, Outcome],
    ) -> bool:
        """False: another process served one of the producers meanwhile. Nothing is stored."""
        journal, producers = self._stores.journal, self._producers
        guess = await journal.next_offset(partition)
        layout = lay_out(guess, batches, screening.admitted, self._stores.clock.now_ms())
        claims, known = producers.claims(screening.planned, layout.deltas)
        lingers = any(batches[number].lingers for number in screening.admitted)
        head, base, lost = await journal.commit(
            partition, layout.extent, layout.parts, claims, lingers
        )
        if base is None:
            producers.lost(partition, lost)
            return False
        producers.stored(partition, known, base)
        self.appended += layout.extent.offsets
        appended = None
        if head.watchers and not head.open_transactions:
            # With an open transaction, not every reader may see what was appended.
            move(layout, base)
            appended = Appended(base, head.next_offset, head.log_start, layout.parts)
        self._stores.wakeups.wake(partition, head.watchers, appended)
        for number, delta in layout.deltas.items():
            outcomes[number] = Outcome(base + delta, head.log_start)
        return True

    async def mark(self, partition: Partition, wanted: Marker) -> bool:
        """Append the marker, unless that transaction has ended here already. A producer without
        batches here gets one too: it fences batches that are on their way.

        Returns whether this call did it. Raises UnknownPartition; Unavailable: then call it again.
        """
        limits, producer_id = self._stores.limits, wanted.producer_id
        for attempt in range(limits.attempts):
            if attempt > 1:
                await asyncio.sleep(limits.backoff_ms * 2**attempt / 1000)
            known = await self._producers.state(partition, producer_id)
            state = known.state if known else ProducerState(NO_EPOCH, ())
            if state.ended >= wanted.serial:
                return False
            after = state.after_marker(wanted.epoch, wanted.serial)
            if await self._mark(partition, wanted, known.version if known else 0, after):
                return True
            self._producers.lost(partition, [producer_id])
        raise NotDone(f"{partition}: producer {producer_id} changes too fast to be marked")

    async def abort(
        self,
        partition: Partition,
        producer_id: int,
        epoch: int,
        by_coordinator: Callable[[], Awaitable[None]],
    ) -> bool:
        """Abort what a producer has open in a partition. `by_coordinator` aborts what the
        coordinator knows of it. The rest is aborted without the coordinator, unless the producer
        has written here since, or was marked: then all is looked at again.

        False: the epoch is an old one. Raises UnknownPartition; Unavailable."""
        for _ in range(self._stores.limits.attempts):
            known = await self._producers.stored_state(partition, producer_id)
            head = await self._stores.ledger.head(partition)
            if producer_id not in head.open_transactions:
                return True
            state = known.state if known else ProducerState(NO_EPOCH, ())
            if epoch < state.epoch:
                return False
            await by_coordinator()
            wanted = Marker(producer_id, epoch, state.ended + 1, End.ABORT)
            after = state.after_marker(epoch, wanted.serial)
            if await self._mark(partition, wanted, known.version if known else 0, after):
                return True
            self._producers.lost(partition, [producer_id])
        raise NotDone(f"{partition}: producer {producer_id} changes too fast to be aborted")

    async def _mark(
        self, partition: Partition, wanted: Marker, version: int, after: ProducerState
    ) -> bool:
        """False: the producer's state is another one by now."""
        stores, producer_id = self._stores, wanted.producer_id
        now_ms = stores.clock.now_ms()
        data = bytearray(marker(producer_id, wanted.epoch, wanted.end is End.COMMIT, now_ms))
        batch = Batch(read_header(data), memoryview(data), wanted.serial)
        guess = await stores.journal.next_offset(partition)
        layout = lay_out(guess, [batch], [0], now_ms)
        expires_at = now_ms + stores.limits.producer_expiry_ms
        claim = Claim(
            producer_id, self._producers.packed(after), version, expires_at, ends=wanted.end
        )
        try:
            head, base, _ = await stores.journal.commit(
                partition, layout.extent, layout.parts, [claim]
            )
        except BaseException:
            self._producers.lost(partition, [producer_id])  # it may be stored
            raise
        if base is None:
            return False
        self._producers.stored(partition, {producer_id: KnownState(version + 1, after)}, base)
        stores.wakeups.wake(partition, head.watchers, None)
        return True
