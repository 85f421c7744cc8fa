"""The journal of local stores: a SQLite ledger and a folder of objects.

The bytes are written to a pack first, where no reader looks for them yet. Then one transaction
takes the next offsets, stores the producers' states and adds the append to the index, or does
nothing. If another process has appended meanwhile, the offsets in the bytes are wrong, and the
index holds the shift. While a process is alone, the transaction is write-behind
(`write_behind.py`).

Small appends are written in the event loop. Large ones are written in a thread, so that they do not
block the network (`inline_write_policy.py`).

A pack may be durable although this process does not `fsync`. So before a pack is deleted, the
change of the ledger that removed it from the index is made durable.
"""

import asyncio
import os
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from uuid import UUID

from samsa.local.health import DiskHealth
from samsa.local.inline_write_policy import InlineWritePolicy
from samsa.local.ledger_journal import LedgerJournal
from samsa.local.packs import PackPosition, Packs
from samsa.local.sqlite import SqliteLedger
from samsa.ports import (
    Buffer,
    Claim,
    CommitResult,
    Extent,
    NotDone,
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
        health: DiskHealth | None = None,
    ) -> None:
        """`health` is for the disk of `root`, if that is not the disk of the ledger."""
        super().__init__(ledger)
        self.health = health or ledger.health
        self._packs = Packs(root, process, fsync)
        self._fsync = fsync
        self._pace = InlineWritePolicy()
        self._threads = ThreadPoolExecutor(4, "journal")
        self._listening: asyncio.TimerHandle | None = None

    @property
    def disks(self) -> list[DiskHealth]:
        """Usually one disk, for the packs and the ledger."""
        return list({self.health, self._ledger.health})

    def stay_alone(self) -> bool:
        """Keep the ledger exclusive until another process knocks. With fsync this has no use: every
        append waits for the disk anyway."""
        alone = not self._fsync and self._ledger.write_behind.try_alone()
        if alone:
            self._listen()
        return alone

    def _listen(self) -> None:
        self._packs.look_again()
        with suppress(sqlite3.Error, OSError):  # busy or full: the other process keeps knocking
            self._ledger.write_behind.let_others_in()
        if self._ledger.write_behind.alone:
            loop = asyncio.get_running_loop()
            self._listening = loop.call_later(LISTEN_EVERY_S, self._listen)

    async def commit(
        self,
        partition: Partition,
        extent: Extent,
        parts: Sequence[Buffer],
        claims: Sequence[Claim],
        lingers: bool = False,  # noqa: ARG002
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
            done = self._ledger.write_behind.commit(partition, extent, key, start, claims)
            if done is None:
                done = await self._commit(partition, extent, key, start, claims)
        except NotDone:
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

    async def _write(
        self, partition: Partition, extent: Extent, parts: Sequence[Buffer]
    ) -> PackPosition:
        if not self._ledger.write_behind.alone:
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

    async def _write_in_thread(self, place: PackPosition, parts: Sequence[Buffer]) -> None:
        """If the caller is cancelled, the thread goes on, and the place stays in use until then."""
        writing = self._threads.submit(self._packs.write, place, parts)
        try:
            await asyncio.wrap_future(writing)
        except asyncio.CancelledError:
            loop = asyncio.get_running_loop()
            writing.add_done_callback(lambda _: loop.call_soon_threadsafe(self._packs.keep, place))
            raise

    async def count_sweep(self, partition: Partition) -> None:
        """Does nothing: a pack that is being written to is locked, so no count is needed."""

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
        """False if a process writes to it."""
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
