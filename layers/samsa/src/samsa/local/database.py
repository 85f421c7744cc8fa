"""The base of all stores in the SQLite file: connections, transactions and calls.

While another process writes, SQLite makes a writer wait. A call in the event loop must not wait:
SQLite refuses it, and it is tried again a few milliseconds later. In a thread SQLite may wait.
"""

import asyncio
import os
import sqlite3
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from samsa.local.files import sync_path_to
from samsa.local.health import DiskHealth
from samsa.ports import NotDone, Unavailable

OPENING_S = 10.0
"""Other processes may be opening the same file, or settling the notes of a process that died."""
BUSY_TIMEOUT_MS = 250
"""How long a call is tried while another process writes. After that the log retries."""
BUSY_PAUSES_S = (0.001, 0.002, 0.004, 0.008, 0.015, 0.02, 0.025, 0.025, 0.05, 0.1)
"""The same time, as pauses between tries."""
P = ParamSpec("P")
R = TypeVar("R")


class Busy(NotDone):
    """Another process has been writing for too long."""


def is_busy(error: sqlite3.Error) -> bool:
    return bool(getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY)


class SqlTransaction:
    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> Callable[..., sqlite3.Cursor]:
        self._db.execute("BEGIN IMMEDIATE")
        return self._db.execute

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._db.rollback()
            return
        try:
            self._db.execute("COMMIT")
        except sqlite3.Error:
            self._db.rollback()  # or every later BEGIN would be inside this transaction
            raise


class Database:
    """One connection, and a thread for its calls if they wait for the disk."""

    def __init__(self, path: str, schema: str, fsync: bool) -> None:
        self.calls: dict[str, int] = defaultdict(int)
        self.health = DiskHealth(os.path.dirname(path), path)
        self.thread = ThreadPoolExecutor(1, "sqlite") if fsync else None
        self._db = sqlite3.connect(
            path,
            timeout=OPENING_S,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        self._db.execute("PRAGMA page_size=1024")
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute(f"PRAGMA synchronous={'FULL' if fsync else 'NORMAL'}")
        self._db.execute("PRAGMA wal_autocheckpoint=0")  # the Checkpointer does it
        try:
            self._db.executescript(schema)
        except sqlite3.Error:
            self._db.close()  # ends its transaction, for which others would wait
            raise
        if fsync:
            sync_path_to(path)

    def _is_open(self) -> None:
        """Call it after opening: from then on SQLite never waits in the event loop."""
        self._wait_at_most(0 if self.thread is None else BUSY_TIMEOUT_MS)

    def _wait_at_most(self, milliseconds: int) -> None:
        self._db.execute(f"PRAGMA busy_timeout={milliseconds}")

    def _write(self) -> SqlTransaction:
        return SqlTransaction(self._db)

    def failed(self, name: str, error: sqlite3.Error) -> Unavailable:
        """The exception to raise for a failed call."""
        return self.health.failed(error, f"SQLite {name}")

    def before(self, name: str, about: object) -> None:
        """Runs before every call. `about` is the call's first argument."""

    def finish(self) -> None:
        """Runs after the last call."""

    async def close(self) -> None:
        if self.thread is not None:
            self.thread.shutdown(wait=True)
        self.finish()
        self._db.close()


D = TypeVar("D", bound=Database)


def store_call(method: Callable[Concatenate[D, P], R]) -> Any:
    """Count the call, run it inline or in the store's thread, and convert its exceptions."""
    name = method.__name__

    @wraps(method)
    async def call(self: D, *args: P.args, **kwargs: P.kwargs) -> R:
        self.calls[name] += 1
        about = args[0] if args else None
        try:
            self.before(name, about)
            if self.thread is None:
                return method(self, *args, **kwargs)
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self.thread, lambda: method(self, *args, **kwargs))
        except sqlite3.Error as error:
            if not is_busy(error):
                raise self.failed(name, error) from error
        return await _try_again(self, name, about, lambda: method(self, *args, **kwargs))

    return call


async def _try_again(store: Database, name: str, about: object, do: Callable[[], R]) -> R:
    """Retry a call while another process writes. Not in a thread: there SQLite has waited."""
    for pause in BUSY_PAUSES_S if store.thread is None else ():
        await asyncio.sleep(pause)
        try:
            store.before(name, about)
            return do()
        except sqlite3.Error as error:
            if not is_busy(error):
                raise store.failed(name, error) from error
    raise Busy(f"SQLite {name}: another process is writing")
