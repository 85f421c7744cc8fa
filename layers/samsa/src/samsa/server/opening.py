"""The stores that URLs name, opened together, and closed in the order that they need."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from samsa.local.health import Health
from samsa.local.journal import SqliteJournal
from samsa.local.sqlite import SqliteLedger
from samsa.local.wakeups import LocalWakeups
from samsa.log.stores import Limits, Stores
from samsa.ports import Groups, Ledger
from samsa.system import SystemClock, fresh_words

from .urls import open_groups, open_journal, open_ledger, open_objects

if TYPE_CHECKING:
    from samsa.aws.function_clients import FunctionClients


@dataclass(frozen=True, slots=True)
class Opened:
    stores: Stores
    groups: Groups
    function_clients: "FunctionClients | None" = None
    """Those who wait behind API Gateway, where the ledger is one that functions use."""
    is_first: bool = False
    """Whether no other process on this machine had the ledger open. Nobody knows of others."""
    is_alone: Callable[[], bool] = lambda: False
    """Whether none has it open now, nor can before this process lets it in."""


def disks_of(stores: Stores) -> list[Health]:
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
) -> AsyncIterator[Opened]:
    words = fresh_words()
    async with AsyncExitStack() as closing:
        ledger = await open_ledger(ledger_url, fsync)
        closing.push_async_callback(ledger.close)
        objects = open_objects(objects_url, fsync, cache_bytes)
        closing.push_async_callback(objects.close)
        journal = open_journal(ledger, objects, words, fsync, limits.window_ms > 0)
        closing.push_async_callback(journal.close)
        clients = _function_clients(ledger, wakeups)
        if clients is not None:
            closing.push_async_callback(clients.close)
        groups = open_groups(ledger_url, ledger, fsync)
        closing.push_async_callback(groups.close)
        stores = Stores(ledger, objects, journal, SystemClock(), wakeups, words, limits)
        if isinstance(ledger, SqliteLedger):
            noted = ledger.noted
            yield Opened(stores, groups, clients, noted.was_first, lambda: noted.alone)
        else:
            yield Opened(stores, groups, clients)


def _function_clients(ledger: Ledger, wakeups: LocalWakeups) -> "FunctionClients | None":
    """Who waits behind API Gateway is woken too, where functions may use the ledger."""
    if isinstance(ledger, SqliteLedger):
        return None
    from samsa.aws.dynamodb import DynamoLedger
    from samsa.aws.function_clients import FunctionClients

    assert isinstance(ledger, DynamoLedger)
    clients = FunctionClients(ledger)
    wakeups.wake_elsewhere = clients.wake
    return clients
