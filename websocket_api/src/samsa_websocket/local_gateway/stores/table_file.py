"""Items in a SQLite file: any number of tables, each with the keys `pk` and `sk`.

Only one thread of one process uses it, so that no function ever holds a lock on it. WAL with
`synchronous=NORMAL`: what is committed survives the end of the process, `kill -9` too.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from .refusals import Item

SCHEMA = """
CREATE TABLE IF NOT EXISTS tables (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS items (
    name TEXT, pk TEXT, sk TEXT, item TEXT NOT NULL, expires INTEGER,
    PRIMARY KEY (name, pk, sk)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS expiring ON items (expires) WHERE expires IS NOT NULL;
CREATE TABLE IF NOT EXISTS tokens (token TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
"""
EXPIRED_AT_ONCE = 1_000
encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


class Key(NamedTuple):
    table: str
    pk: str
    sk: str


class TableFile:
    def __init__(self, path: str) -> None:
        """Raises sqlite3.Error."""
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.executescript(SCHEMA)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            self._db.rollback()
            raise

    def has_table(self, name: str) -> bool:
        found = self._db.execute("SELECT 1 FROM tables WHERE name=?", (name,))
        return found.fetchone() is not None

    def add_table(self, name: str) -> None:
        self._db.execute("INSERT OR IGNORE INTO tables VALUES (?)", (name,))

    def get(self, key: Key) -> Item | None:
        row = self._db.execute(
            "SELECT item FROM items WHERE name=? AND pk=? AND sk=?", key
        ).fetchone()
        if row is None:
            return None
        item: Item = json.loads(row[0])
        return item

    def put(self, key: Key, item: Item) -> None:
        expires = item.get("expires", {}).get("N")
        self._db.execute(
            "INSERT OR REPLACE INTO items VALUES (?,?,?,?,?)",
            (*key, encode(item), int(float(expires)) if expires else None),
        )

    def delete(self, key: Key) -> None:
        self._db.execute("DELETE FROM items WHERE name=? AND pk=? AND sk=?", key)

    def between(self, first: Key, last: str, after: str | None) -> Iterator[Item]:
        """Items of one `pk`, in order: from `first` to `last`, behind `after` if that is given."""
        rows = self._db.execute(
            "SELECT item FROM items WHERE name=? AND pk=? AND sk>=? AND sk<=? AND sk>? ORDER BY sk",
            (*first, last, "" if after is None else after),
        )
        for (text,) in rows:
            item: Item = json.loads(text)
            yield item

    def was_done(self, token: str, now_s: int, kept_s: int) -> bool:
        """Whether a transaction of this token was done; if not, it is noted as done. Tokens are
        forgotten after a while."""
        self._db.execute("DELETE FROM tokens WHERE at < ?", (now_s - kept_s,))
        made = self._db.execute("INSERT OR IGNORE INTO tokens VALUES (?,?)", (token, now_s))
        return made.rowcount == 0

    def forget_expired(self, now_s: int) -> int:
        """Remove items whose `expires` has passed; returns how many."""
        return self._db.execute(
            "DELETE FROM items WHERE (name, pk, sk) IN "
            "(SELECT name, pk, sk FROM items WHERE expires < ? LIMIT ?)",
            (now_s, EXPIRED_AT_ONCE),
        ).rowcount

    def close(self) -> None:
        self._db.close()
