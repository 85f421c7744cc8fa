"""Opens all stores that URLs name, and closes them in the right order."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from samsa.local.health import DiskHealth
from samsa.local.journal import SqliteJournal
from samsa.local.memory_ledger import MemoryLedger
from samsa.local.memory_room import DEFAULT_BYTES
from samsa.local.sqlite import SqliteLedger
from samsa.local.wakeups import LocalWakeups
from samsa.log.stores import Limits, Stores
from samsa.ports import Groups
from samsa.runtime.system import SystemClock, fresh_words

from .store_urls import open_groups, open_journal, open_ledger, open_objects


@dataclass(frozen=True, slots=True)
class Opened:
    stores: Stores
    groups: Groups
    is_first: bool = False
    """Whether no other process had the SQLite ledger open. False with DynamoDB: not known there."""
    is_alone: Callable[[], bool] = lambda: False
    """Whether this process is alone with the ledger now (`local/ownership.py`)."""


def disks_of(stores: Stores) -> list[DiskHealth]:
    """The disks of this machine that appends are written to."""
    journal = stores.journal
    return journal.disks if isinstance(journal, SqliteJournal) else []


@asynccontextmanager
async def opened(
    ledger_url: str,
    objects_url: str,
    wakeups: LocalWakeups,
    limits: Limits,
    *,
    fsync: bool = False,
    cache_bytes: int = 0,
    memory_bytes: int = DEFAULT_BYTES,
) -> AsyncIterator[Opened]:
    words = fresh_words()
    async with AsyncExitStack() as closing:
        ledger = await open_ledger(ledger_url, fsync, memory_bytes)
        closing.push_async_callback(ledger.close)
        objects = open_objects(objects_url, fsync, cache_bytes, ledger)
        closing.push_async_callback(objects.close)
        journal = open_journal(ledger, objects, words, fsync, limits.window_ms > 0)
        closing.push_async_callback(journal.close)
        groups = open_groups(ledger_url, ledger, fsync)
        closing.push_async_callback(groups.close)
        stores = Stores(ledger, objects, journal, SystemClock(), wakeups, words, limits)
        if isinstance(ledger, MemoryLedger):
            yield Opened(stores, groups, is_first=True, is_alone=lambda: True)
        elif isinstance(ledger, SqliteLedger):
            write_behind = ledger.write_behind
            yield Opened(stores, groups, write_behind.was_first, lambda: write_behind.alone)
        else:
            yield Opened(stores, groups)
