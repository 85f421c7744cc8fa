"""Opens the ledger, the objects, the journal and the groups that URLs name (`store_address.py`)."""

import asyncio
import os
import sqlite3
from collections.abc import Callable

from samsa.local.folder import FolderObjects
from samsa.local.health import FULL, kind_of, reserve_of
from samsa.local.journal import SqliteJournal
from samsa.local.memory import MemoryObjects
from samsa.local.memory_ledger import MemoryGroups, MemoryLedger
from samsa.local.memory_room import DEFAULT_BYTES, MemoryRoom
from samsa.local.object_journal import ObjectJournal
from samsa.local.read_only_ledger import ReadOnlyLedger, look_on
from samsa.local.sqlite import SqliteLedger
from samsa.local.sqlite_groups import SqliteGroups
from samsa.log.cache import TailCache
from samsa.ports import Groups, Journal, Ledger, Objects
from samsa.runtime.store_address import BadUrl, local_path, read_store_url
from samsa.runtime.system import SystemClock

LEDGER_FILE = "sqlite:///path/to/ledger.db"


async def open_ledger(url: str, fsync: bool, memory_bytes: int = DEFAULT_BYTES) -> Ledger:
    """`memory_bytes`: the most that a ledger in memory, and objects beside it, may take."""
    store = read_store_url(url)
    if store.scheme == "memory":
        return MemoryLedger(MemoryRoom(memory_bytes))
    if store.scheme == "sqlite":
        path = local_path(store, LEDGER_FILE)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # In a thread: a process that is alone with the ledger may take a while to share it.
        return await asyncio.to_thread(_open_sqlite, path, fsync)
    if store.scheme == "dynamodb":
        if not store.name:
            raise BadUrl(f"{url!r} names no table; try dynamodb://samsa?region=eu-central-1")
        from samsa.aws.dynamodb import DynamoLedger

        ledger = DynamoLedger(store.name, store.endpoint, store.region)
        if store.endpoint is not None:
            # A local DynamoDB starts empty; in an AWS account a deployment creates the table.
            await ledger.create_table()
        return ledger
    raise BadUrl(f"{url!r} is no ledger; there are sqlite:///… and dynamodb://…")


def _open_sqlite(path: str, fsync: bool) -> SqliteLedger:
    try:
        return SqliteLedger(path, fsync)
    except sqlite3.Error as error:
        reserve = reserve_of(path)
        if kind_of(error) != FULL or not os.path.exists(reserve):
            raise
        os.unlink(reserve)  # kept for this: now notes can be settled, and room freed
        return SqliteLedger(path, fsync)


async def open_ledger_to_read(url: str) -> Ledger:
    """A ledger for reads only, which does not slow down a broker on the same machine."""
    store = read_store_url(url)
    if store.scheme == "sqlite":
        return await look_on(local_path(store, LEDGER_FILE))
    return await open_ledger(url, fsync=False)


def open_groups(url: str, ledger: Ledger, fsync: bool) -> Groups:
    """The groups in the same store as `ledger`, which is open already."""
    if isinstance(ledger, MemoryLedger):
        return MemoryGroups(ledger.room)
    if isinstance(ledger, SqliteLedger):
        groups = SqliteGroups(
            local_path(read_store_url(url), LEDGER_FILE), fsync, lambda: ledger.write_behind.alone
        )
        groups.health = ledger.health
        return groups
    from samsa.aws.dynamodb import DynamoLedger
    from samsa.aws.dynamodb_groups import DynamoGroups

    assert isinstance(ledger, DynamoLedger)
    return DynamoGroups(ledger.table)


def open_objects(url: str, fsync: bool, cache_bytes: int, ledger: Ledger | None = None) -> Objects:
    """`ledger`: if it is in memory, the objects must be there too, and they count together."""
    store = read_store_url(url)
    if isinstance(ledger, MemoryLedger):
        if store.scheme != "memory":
            raise BadUrl(f"a ledger in memory forgets the objects of {url!r}; try memory:///")
        return MemoryObjects(ledger.room)
    if store.scheme == "file":
        return FolderObjects(local_path(store, "file:///path/to/objects"), fsync)
    if store.scheme == "memory":
        return MemoryObjects()
    if store.scheme == "s3":
        if not store.name:
            raise BadUrl(f"{url!r} names no bucket; try s3://bucket/prefix?region=eu-central-1")
        from samsa.aws.s3 import S3Objects

        remote = S3Objects(store.name, store.prefix, store.endpoint, store.region)
        return TailCache(remote, cache_bytes)
    raise BadUrl(f"{url!r} is no object store; there are file:///… and s3://…")


def open_journal(
    ledger: Ledger,
    objects: Objects,
    nonce: Callable[[], str],
    fsync: bool,
    has_window: bool = False,
) -> Journal:
    """`nonce` returns a unique word. It is not needed for reads."""
    if not isinstance(ledger, SqliteLedger):
        return _open_head_journal(ledger, objects, nonce, has_window)
    if isinstance(objects, FolderObjects) and not isinstance(ledger, ReadOnlyLedger):
        if os.stat(objects.root).st_dev == os.stat(ledger.health.folder).st_dev:
            objects.health = ledger.health
        journal = SqliteJournal(ledger, objects.root, nonce(), fsync, objects.health)
        journal.stay_alone()
        objects.before_delete = ledger.persist
        return journal
    return ObjectJournal(ledger, objects, nonce)


def _open_head_journal(
    ledger: Ledger, objects: Objects, nonce: Callable[[], str], has_window: bool
) -> Journal:
    from samsa.aws.dynamodb import DynamoLedger
    from samsa.aws.journal import HeadJournal

    assert isinstance(ledger, DynamoLedger)
    return HeadJournal(ledger, objects, nonce, SystemClock(), has_window)
