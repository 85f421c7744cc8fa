"""Groups and their offsets in SQLite: tables in the ledger's file, with their own connection.

Every call is one statement or one transaction, in the event loop like the ledger's calls; with
`fsync` they run in a thread, because they wait for the disk.

While its process is alone with the ledger, it knows the current versions of groups without a call
(`known_versions.py`).
"""

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from samsa.local.database import store_call
from samsa.local.known_versions import KnownVersions
from samsa.local.sqlite_security import SECURITY_SCHEMA, SqliteSecurity
from samsa.local.sqlite_transactions import SqliteTransactions
from samsa.ports import Committed, GroupItem, Offsets

P = ParamSpec("P")
R = TypeVar("R")

SCHEMA = """
CREATE TABLE IF NOT EXISTS groups (
    id TEXT PRIMARY KEY, version INTEGER NOT NULL, state BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS offsets (
    group_id TEXT, topic TEXT, partition INTEGER, generation INTEGER NOT NULL,
    offset INTEGER NOT NULL, leader_epoch INTEGER NOT NULL, metadata TEXT NOT NULL,
    committed_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    PRIMARY KEY (group_id, topic, partition)
) WITHOUT ROWID;
"""
# If the caller has the current version, the pages of a large state are not read.
GROUP = "SELECT version, CASE WHEN version = ? THEN x'' ELSE state END FROM groups WHERE id = ?"
COMMIT = """
    INSERT INTO offsets VALUES (?,?,?,?,?,?,?,?,?)
    ON CONFLICT DO UPDATE SET generation = max(generation, excluded.generation),
        offset = excluded.offset, leader_epoch = excluded.leader_epoch,
        metadata = excluded.metadata, committed_at = excluded.committed_at,
        expires_at = excluded.expires_at
    WHERE excluded.generation = -1 OR generation <= excluded.generation"""
OFFSETS = """
    SELECT topic, partition, offset, leader_epoch, metadata, committed_at, expires_at FROM offsets
    WHERE group_id = ? AND (expires_at = 0 OR expires_at > ?) ORDER BY topic, partition"""
DELETE_OFFSET = (
    "DELETE FROM offsets WHERE group_id=? AND topic=? AND partition=? AND committed_at < ?"
)
HAS_OFFSETS = """
    SELECT 1 FROM offsets WHERE group_id=? UNION ALL
    SELECT 1 FROM pending_offsets WHERE group_id=?"""
DELETE_PENDING = "DELETE FROM pending_offsets WHERE group_id=? AND topic=? AND partition=?"
FOR_EVER = 2**63 - 1


class _Overtaken(Exception):
    """A newer generation has committed one of the partitions."""


class SqliteGroups(SqliteTransactions, SqliteSecurity):
    def __init__(
        self, path: str, fsync: bool = False, alone: Callable[[], bool] = lambda: False
    ) -> None:
        super().__init__(path, SCHEMA + SECURITY_SCHEMA, fsync, alone)
        self._is_open()
        self._known = KnownVersions(alone)

    def is_current(self, group_id: str, version: int) -> bool:
        return self._known.is_current(group_id, version)

    def _group(self, group_id: str, known: int = 0) -> GroupItem | None:
        row = self._db.execute(GROUP, (known, group_id)).fetchone()
        return GroupItem(*row) if row else None

    @store_call
    def group(self, group_id: str, known: int = 0) -> GroupItem | None:
        found = self._group(group_id, known)
        if found:
            self._known.remember(group_id, found.version)
        return found

    @store_call
    def put_group(self, group_id: str, item: GroupItem, after: int) -> bool:
        self._known.forget(group_id)
        stored = self._put(group_id, item, after)
        if stored:
            self._known.remember(group_id, item.version)
        return stored

    def _put(self, group_id: str, item: GroupItem, after: int) -> bool:
        if after == 0:
            done = self._db.execute(
                "INSERT OR IGNORE INTO groups VALUES (?,?,?)", (group_id, *item)
            ).rowcount
        else:
            done = self._db.execute(
                "UPDATE groups SET version=?, state=? WHERE id=? AND version=?",
                (*item, group_id, after),
            ).rowcount
        return bool(done) or self._group(group_id) == item

    @store_call
    def delete_group(self, group_id: str, version: int) -> bool:
        self._known.forget(group_id)
        with self._write() as execute:
            item = self._group(group_id)
            if (item.version if item else 0) != version:
                return False
            execute("DELETE FROM groups WHERE id=?", (group_id,))
            execute("DELETE FROM offsets WHERE group_id=?", (group_id,))
            execute("DELETE FROM pending_offsets WHERE group_id=?", (group_id,))
        return True

    @store_call
    def forget_group(self, group_id: str, version: int, now_ms: int) -> bool:  # noqa: ARG002
        self._known.forget(group_id)
        with self._write() as execute:
            item = self._group(group_id)
            has_offsets = execute(HAS_OFFSETS, (group_id, group_id)).fetchone()
            if has_offsets or (item.version if item else 0) != version:
                return False
            execute("DELETE FROM groups WHERE id=?", (group_id,))
        return True

    @store_call
    def group_ids(self) -> list[str]:
        rows = self._db.execute("SELECT id FROM groups UNION SELECT group_id FROM offsets")
        return sorted(row[0] for row in rows)

    @store_call
    def commit(self, group_id: str, generation: int, offsets: Offsets) -> bool:
        rows = [(group_id, *where, generation, *committed) for where, committed in offsets.items()]
        if len(rows) == 1:
            return self._db.execute(COMMIT, rows[0]).rowcount == 1
        try:
            with self._write():
                if self._db.executemany(COMMIT, rows).rowcount < len(rows):
                    raise _Overtaken
        except _Overtaken:
            return False
        return True

    @store_call
    def offsets(self, group_id: str, now_ms: int) -> Offsets:
        rows = self._db.execute(OFFSETS, (group_id, now_ms))
        return {(topic, number): Committed(*rest) for topic, number, *rest in rows}

    @store_call
    def delete_offsets(
        self, group_id: str, partitions: Sequence[tuple[str, int]], before: int | None = None
    ) -> None:
        rows = [(group_id, *where) for where in partitions]
        until = FOR_EVER if before is None else before
        with self._write():
            self._db.executemany(DELETE_OFFSET, [(*row, until) for row in rows])
            if before is None:
                self._db.executemany(DELETE_PENDING, rows)

    @store_call
    def forget_topic(self, name: str, before: int) -> None:
        with self._write() as execute:
            for table in ("offsets", "pending_offsets"):
                execute(f"DELETE FROM {table} WHERE topic=? AND committed_at < ?", (name, before))
