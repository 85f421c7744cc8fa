"""The journal: a SQLite ledger and a folder of objects, taken together.

The bytes go to a pack first, where nobody looks for them. One transaction then takes the next
offsets, binds the producers and enters the append into the index, or does nothing. Another process
may have appended meanwhile: then the offsets are not those that the bytes carry, and the index says
by how much. While a process is alone, even the transaction can wait (`noted.py`).

Small appends are written in the event loop, large ones in a thread, so that the network goes on
meanwhile (`pace.py`).

What a pack holds may be durable although this process does not `fsync`. So before a pack is
deleted, what has taken it out of the index is made durable.
"""

import asyncio
import os
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from uuid import UUID

from samsa.local.database import Busy
from samsa.local.health import Health
from samsa.local.ledger_journal import LedgerJournal
from samsa.local.pace import Pace
from samsa.local.packs import Packs, Place
from samsa.local.sqlite import SqliteLedger
from samsa.ports import (
    Buffer,
    Claim,
    CommitResult,
    Extent,
    Partition,
    Unavailable,
    UnknownPartition,
)

LISTEN_EVERY_S = 0.05


class SqliteJournal(LedgerJournal):
    def __init__(
        self,
        ledger: SqliteLedger,
        root: str,
        process: str,
        fsync: bool = False,
        health: Health | None = None,
    ) -> None:
        """`health` is that of the disk that `root` is on, unless it is the ledger's."""
        super().__init__(ledger)
        self.health = health or ledger.health
        self._packs = Packs(root, process, fsync)
        self._fsync = fsync
        self._pace = Pace()
        self._threads = ThreadPoolExecutor(4, "journal")
        self._listening: asyncio.TimerHandle | None = None

    @property
    def disks(self) -> list[Health]:
        """Mostly one."""
        return list({self.health, self._ledger.health})

    def stay_alone(self) -> bool:
        """Keep the ledger to ourselves until somebody knocks. With fsync there is no point: every
        append waits for the disk anyway."""
        alone = not self._fsync and self._ledger.noted.try_alone()
        if alone:
            self._listen()
        return alone

    def _listen(self) -> None:
        self._packs.look_again()
        with suppress(sqlite3.Error, OSError):  # busy or full: the newcomer goes on knocking
            self._ledger.noted.let_others_in()
        if self._ledger.noted.alone:
            loop = asyncio.get_running_loop()
            self._listening = loop.call_later(LISTEN_EVERY_S, self._listen)

    async def commit(
        self,
        partition: Partition,
        extent: Extent,
        parts: Sequence[Buffer],
        claims: Sequence[Claim],
    ) -> CommitResult:
        self.calls["commit"] += 1
        if self.health.trouble is not None:
            await self.health.check()
        if self._ledger.health.trouble is not None:
            await self._ledger.health.check()
        place = await self._write(partition, extent, parts)
        self.calls["pack"] += 1
        key, start = place.pack.key, place.start
        try:
            done = self._ledger.noted.commit(partition, extent, key, start, claims)
            if done is None:
                done = await self._commit(partition, extent, key, start, claims)
        except Busy:
            self._packs.give_back(place, extent.size)
            raise
        except OSError as error:
            self._packs.keep(place)
            raise self._ledger.health.failed(error, "noting an append") from error
        except UnknownPartition:
            self._packs.give_back(place, extent.size)
            self._packs.leave(partition)
            self._packs.delete(place.pack.key)
            raise
        except BaseException:
            self._packs.keep(place)  # it may be stored
            raise
        if done.base is None:
            self._packs.give_back(place, extent.size)
        else:
            self._packs.keep(place)
        return done

    async def _write(self, partition: Partition, extent: Extent, parts: Sequence[Buffer]) -> Place:
        if not self._ledger.noted.alone:
            self._packs.look_again()
        try:
            place = self._packs.place(partition, extent.base, extent.size)
        except OSError as error:
            raise self.health.failed(error, "making a pack") from error
        try:
            if not self._fsync and self._pace.in_loop(extent.size):
                began = self._pace.clock()
                self._packs.write(place, parts)
                self._pace.wrote(began)
            else:
                await self._write_in_thread(place, parts)
        except OSError as error:
            self._packs.give_back(place, extent.size)
            raise self.health.failed(error, "writing a pack") from error
        return place

    async def _write_in_thread(self, place: Place, parts: Sequence[Buffer]) -> None:
        """If the wait is given up, the thread writes on, and the place is in use until it ends."""
        writing = self._threads.submit(self._packs.write, place, parts)
        try:
            await asyncio.wrap_future(writing)
        except asyncio.CancelledError:
            loop = asyncio.get_running_loop()
            writing.add_done_callback(lambda _: loop.call_soon_threadsafe(self._packs.keep, place))
            raise

    async def count_sweep(self, partition: Partition) -> None:
        """A pack that is written to is locked: there is nothing to count."""

    async def sweep(self, partition: Partition, below: int) -> None:
        self.calls["sweep"] += 1
        try:
            self._packs.tidy(partition, below)
            for key in self._packs.begun_below(partition, below):
                await self._delete_if_dead(partition, key, below)
        except OSError as error:
            raise Unavailable(f"sweeping packs: {error.strerror}") from error

    async def discard(self, partition: Partition, key: str) -> bool:
        self.calls["discard"] += 1
        try:
            return await self._delete_if_dead(partition, key, 0)
        except OSError as error:
            raise Unavailable(f"discarding a pack: {error.strerror}") from error

    async def _delete_if_dead(self, partition: Partition, key: str, below: int) -> bool:
        """False if somebody writes to it."""
        locked = self._packs.lock(key)
        if locked is None:
            return not self._packs.exists(key)
        try:
            if not await self._ledger.holds(partition, key, below):
                await self._ledger.persist()
                self._packs.delete(key)
        finally:
            os.close(locked)
        return True

    async def bury(self, topic_id: UUID) -> None:
        self.calls["bury"] += 1
        await self._ledger.persist()
        self._packs.bury(topic_id)

    async def close(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
        self._threads.shutdown(wait=True)
        self._packs.close()
