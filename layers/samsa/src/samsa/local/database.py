"""What all that is kept in the SQLite file has in common: connections, transactions and calls."""

import asyncio
import sqlite3
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from samsa.ports import Unavailable

BUSY_TIMEOUT_MS = 250
"""A longer wait for another process would be everybody's: the log tries again by itself."""
P = ParamSpec("P")
R = TypeVar("R")


class Transaction:
    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> Callable[..., sqlite3.Cursor]:
        self._db.execute("BEGIN IMMEDIATE")
        return self._db.execute

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._db.execute("COMMIT")
        else:
            self._db.rollback()


class Database:
    """One connection, and a thread for its calls if they wait for the disk."""

    def __init__(self, path: str, schema: str, fsync: bool) -> None:
        self.calls: dict[str, int] = defaultdict(int)
        self.thread = ThreadPoolExecutor(1, "sqlite") if fsync else None
        self._db = sqlite3.connect(
            path,
            timeout=BUSY_TIMEOUT_MS / 1000,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        self._db.execute("PRAGMA page_size=1024")
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute(f"PRAGMA synchronous={'FULL' if fsync else 'NORMAL'}")
        self._db.execute("PRAGMA wal_autocheckpoint=0")  # the ledger's own thread does it
        self._db.executescript(schema)

    def _write(self) -> Transaction:
        return Transaction(self._db)

    def before(self, name: str, about: object) -> None:
        """What must be done before a call, of which `about` is the first argument."""

    def finish(self) -> None:
        """What must be done after the last call."""

    async def close(self) -> None:
        if self.thread is not None:
            self.thread.shutdown(wait=True)
        self.finish()
        self._db.close()


D = TypeVar("D", bound=Database)


def store_call(method: Callable[Concatenate[D, P], R]) -> Any:
    """Count the call, run it inline or in the store's thread, and name its failures."""
    name = method.__name__

    @wraps(method)
    async def call(self: D, *args: P.args, **kwargs: P.kwargs) -> R:
        self.calls[name] += 1
        try:
            self.before(name, args[0] if args else None)
            if self.thread is None:
                return method(self, *args, **kwargs)
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self.thread, lambda: method(self, *args, **kwargs))
        except sqlite3.Error as error:
            raise Unavailable(f"SQLite {name}: {error}") from error

    return call
