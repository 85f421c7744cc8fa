"""The SQLite ledger: one file, safe for several processes on one machine.

Every ledger call is one transaction, and so is the commit of an append. WAL mode: readers never
wait. With `synchronous=NORMAL` a commit survives a crash of the process (`kill -9`). With
`fsync=True` it also survives a crash of the machine; then calls run in a thread, because they wait
for the disk.

Without fsync a call takes 10-30 µs, less than a hand-over to a thread. So it runs in the event
loop.
"""

import asyncio
import json
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import Any
from urllib.parse import quote
from uuid import UUID

from samsa.local.checkpoint import Checkpointer
from samsa.local.database import BUSY_TIMEOUT_MS, store_call
from samsa.local.files import sync_file
from samsa.local.node_rows import NODES_SCHEMA, SqliteNodes
from samsa.local.open_transactions import follow, raise_if_too_many
from samsa.local.schema import (
    FORMAT,
    HEAD,
    INSERT_ABORTED,
    INSERT_EXTENT,
    SCHEMA,
    aborted_to_row,
    committed,
    extent_to_row,
    format_of,
    row_to_head,
    row_to_topic,
)
from samsa.local.sqlite_aborted import SqliteAborted
from samsa.local.swaps import SqliteSwaps
from samsa.local.topic_list import TOPIC_CHANGES, TopicList
from samsa.local.write_behind import WriteBehind
from samsa.ports import (
    Bound,
    Claim,
    CommitResult,
    Extent,
    Head,
    Partition,
    Topic,
    UnknownPartition,
)
from samsa.ports.bounds import MOST_WATCHERS

STALE_WATCHER_MS = 60_000
BOUND = "version, state, base"

HARMLESS = {
    "head",
    "sweeps",
    "count_sweep",
    "extents",
    "extent_at_time",
    "newest_extent",
    "producer",
    "producers",
    "topic",
    "topic_by_id",
    "topics",
    "doomed_topics",
    "holds",
    "aborted",
    "replace_extents",
    "announce",
    "pending_deletions",
    "condemn",
    "forget_deletion",
    "cursor",
    "move_cursor",
    "create_topic",
    "change_topic",
    "next_producer_ids",
    "cluster_id",
    "nodes",
    "put_node",
    "remove_node",
    "commit",
}
"""Calls after which the known heads and producers stay true: they do not change them, except
`commit`, which updates or forgets what is known."""

ADVANCE = f"""
    UPDATE heads SET next_offset = next_offset + ?
    WHERE topic=? AND partition=? AND sweeps = coalesce(?, sweeps)
    RETURNING {HEAD}"""


class SweepsMoved(Exception):
    """A sweep was counted, so an object that was put before it may be deleted: nothing was
    committed."""


class SqliteLedger(SqliteSwaps, SqliteAborted, SqliteNodes):
    def __init__(self, path: str, fsync: bool = False) -> None:
        super().__init__(path, _schema(path), fsync)
        self._path = path
        self._topics = TopicList(self._db)
        try:
            self.write_behind = WriteBehind(path, self._db, partial(self.failed, "settle"))
        except BaseException:
            self._db.close()
            raise
        self._checkpointer = Checkpointer(path)
        self._is_open()

    def before(self, name: str, about: object) -> None:
        if self.write_behind.waiting:
            self.write_behind.settle()
        if name in HARMLESS:
            return
        if isinstance(about, Partition):
            self.write_behind.forget(about)
        else:
            self.write_behind.forget_all()

    def _head(self, partition: Partition) -> Head:
        row = self._db.execute(
            f"SELECT {HEAD} FROM heads WHERE topic=? AND partition=?",
            (partition.topic_id.bytes, partition.number),
        ).fetchone()
        if row is None:
            raise UnknownPartition(str(partition))
        return row_to_head(row)

    @store_call
    def commit(
        self,
        partition: Partition,
        extent: Extent,
        key: str,
        start: int,
        claims: Sequence[Claim],
        sweeps: int | None = None,
    ) -> CommitResult:
        """Commit an append, whose bytes are at `start` of the object `key`: give it its offsets,
        store its producers' states, open and end their transactions, index it. Or do nothing, if
        a claim does not hold.
        `extent.base` is a guess.

        Raises UnknownPartition; SweepsMoved, if `sweeps` is given and has changed; Busy or NotDone,
        and nothing was done; Unavailable.
        """
        where = (partition.topic_id.bytes, partition.number)
        self._db.execute("BEGIN IMMEDIATE")
        try:
            rows = self._db.execute(ADVANCE, (extent.offsets, *where, sweeps)).fetchall()
            if not rows:
                self._head(partition)
                raise SweepsMoved
            before = row_to_head(rows[0])
            base = before.next_offset - extent.offsets
            head, aborted = follow(before, base, claims)
            opened = head.open_transactions
            lost = [c.producer_id for c in claims if not self._claim(partition, c, base, opened)]
            if lost:
                self._db.execute("ROLLBACK")
                self.write_behind.forget(partition)
                return CommitResult(self._head(partition), None, tuple(lost))
            raise_if_too_many(before, head)
            placed = committed(extent, base, key, start)
            self._db.execute(INSERT_EXTENT, extent_to_row(partition, placed))
            if aborted:
                self._db.execute(INSERT_ABORTED, aborted_to_row(partition, aborted))
            self._db.execute("COMMIT")
        except BaseException:
            self._db.rollback()
            self.write_behind.forget(partition)  # after a failed COMMIT it may be written
            raise
        self.write_behind.remember(partition, head, claims)
        return CommitResult(head, base)

    @store_call
    def sweeps(self, partition: Partition) -> int:
        row = self._db.execute(
            "SELECT sweeps FROM heads WHERE topic=? AND partition=?",
            (partition.topic_id.bytes, partition.number),
        ).fetchone()
        if row is None:
            raise UnknownPartition(str(partition))
        return int(row[0])

    @store_call
    def count_sweep(self, partition: Partition) -> None:
        self._db.execute(
            "UPDATE heads SET sweeps = sweeps + 1 WHERE topic=? AND partition=?",
            (partition.topic_id.bytes, partition.number),
        )

    @store_call
    def holds(self, partition: Partition, key: str, offset: int) -> bool:
        """Whether an extent at or above `offset` is in the object. Scans the index to its end."""
        row = self._db.execute(
            "SELECT 1 FROM extents WHERE topic=? AND partition=? AND last >= ? AND key=? LIMIT 1",
            (partition.topic_id.bytes, partition.number, offset, key),
        ).fetchone()
        return row is not None

    @store_call
    def head(self, partition: Partition) -> Head:
        return self._head(partition)

    @store_call
    def extents(self, partition: Partition, offset: int, limit: int) -> list[Extent]:
        return self._select_extents(partition, "AND last >= ? ORDER BY last LIMIT ?", offset, limit)

    @store_call
    def extent_at_time(self, partition: Partition, timestamp: int) -> Extent | None:
        start = self._head(partition).log_start
        found = self._select_extents(
            partition,
            "AND last >= ? AND max_timestamp >= ? ORDER BY last LIMIT 1",
            start,
            timestamp,
        )
        return found[0] if found else None

    @store_call
    def newest_extent(self, partition: Partition) -> Extent | None:
        start = self._head(partition).log_start
        found = self._select_extents(
            partition, "AND last >= ? ORDER BY max_timestamp DESC, last LIMIT 1", start
        )
        return found[0] if found else None

    @store_call
    def producer(self, partition: Partition, producer_id: int) -> Bound | None:
        row = self._db.execute(
            f"SELECT {BOUND} FROM producers WHERE topic=? AND partition=? AND producer=?",
            (partition.topic_id.bytes, partition.number, producer_id),
        ).fetchone()
        return Bound(*row) if row else None

    @store_call
    def producers(self, partition: Partition, now: int) -> dict[int, Bound]:
        rows = self._db.execute(
            f"SELECT producer, {BOUND} FROM producers "
            "WHERE topic=? AND partition=? AND (expires_at > ? OR opened IS NOT NULL) "
            "ORDER BY producer",
            (partition.topic_id.bytes, partition.number, now),
        )
        return {producer_id: Bound(*bound) for producer_id, *bound in rows}

    def _claim(
        self, partition: Partition, claim: Claim, base: int, opened: Mapping[int, int]
    ) -> bool:
        """`opened`: the transactions that are open after the append."""
        producer_id, state, after, expires_at, *_ = claim
        where = (partition.topic_id.bytes, partition.number, producer_id)
        first = opened.get(producer_id)
        if after == 0:
            done = self._db.execute(
                "INSERT OR IGNORE INTO producers VALUES (?,?,?,1,?,?,?,?)",
                (*where, state, expires_at, base, first),
            )
        else:
            done = self._db.execute(
                "UPDATE producers SET version=version+1, state=?, expires_at=?, base=?, opened=? "
                "WHERE topic=? AND partition=? AND producer=? AND version=?",
                (state, expires_at, base, first, *where, after),
            )
        return done.rowcount > 0

    @store_call
    def advance_start(self, partition: Partition, offset: int) -> Head:
        with self._write() as execute:
            execute(
                "UPDATE heads SET log_start=? WHERE topic=? AND partition=? "
                "AND log_start < ? AND next_offset >= ?",
                (offset, partition.topic_id.bytes, partition.number, offset, offset),
            )
            return self._head(partition)

    @store_call
    def drop_extents(self, partition: Partition, below: int) -> int:
        where = (partition.topic_id.bytes, partition.number, below)
        with self._write() as execute:
            execute("DELETE FROM aborted WHERE topic=? AND partition=? AND marker < ?", where)
            return execute(
                "DELETE FROM extents WHERE topic=? AND partition=? AND last < ?", where
            ).rowcount

    def _change_watchers(
        self, partition: Partition, change: Callable[[dict[str, int]], Any]
    ) -> Head:
        with self._write() as execute:
            head = self._head(partition)
            watchers = dict(head.watchers)
            change(watchers)
            execute(
                "UPDATE heads SET watchers=? WHERE topic=? AND partition=?",
                (json.dumps(watchers), partition.topic_id.bytes, partition.number),
            )
        return head._replace(watchers=watchers)

    @store_call
    def watch(self, partition: Partition, watcher: str, expires_at: int) -> Head:
        def renew(watchers: dict[str, int]) -> None:
            for name in [
                w for w, until in watchers.items() if until < expires_at - STALE_WATCHER_MS
            ]:
                del watchers[name]
            if watcher in watchers or len(watchers) < MOST_WATCHERS:
                watchers[watcher] = expires_at

        return self._change_watchers(partition, renew)

    @store_call
    def unwatch(self, partition: Partition, watcher: str) -> None:
        with suppress(UnknownPartition):
            self._change_watchers(partition, lambda watchers: watchers.pop(watcher, None))

    @store_call
    def create_topic(self, topic: Topic) -> bool:
        with self._write() as execute:
            made = execute(
                "INSERT OR IGNORE INTO topics VALUES (?,?,?,?,?)",
                (
                    topic.name,
                    topic.id.bytes,
                    topic.partitions,
                    topic.created_at,
                    json.dumps(dict(topic.configs)),
                ),
            ).rowcount
            if made:
                self._db.executemany(
                    "INSERT INTO heads (topic, partition) VALUES (?,?)",
                    [(topic.id.bytes, number) for number in range(topic.partitions)],
                )
        return bool(made)

    def _select_topics(self, rest: str, *values: Any) -> list[Topic]:
        rows = self._db.execute(
            "SELECT name, id, partitions, created_at, configs FROM " + rest, values
        )
        return [row_to_topic(row) for row in rows]

    @store_call
    def topic(self, name: str) -> Topic | None:
        found = self._select_topics("topics WHERE name=?", name)
        return found[0] if found else None

    @store_call
    def topic_by_id(self, topic_id: UUID) -> Topic | None:
        found = self._select_topics("topics WHERE id=?", topic_id.bytes)
        return found[0] if found else None

    @store_call
    def topics(self) -> list[Topic]:
        return self._topics.current()

    @store_call
    def change_topic(self, old: Topic, new: Topic) -> bool:
        with self._write() as execute:
            found = self._select_topics("topics WHERE id=?", old.id.bytes)
            if found != [old]:
                return found == [new]
            execute(
                "UPDATE topics SET partitions=?, configs=? WHERE id=?",
                (new.partitions, json.dumps(dict(new.configs)), old.id.bytes),
            )
            self._db.executemany(
                "INSERT INTO heads (topic, partition) VALUES (?,?)",
                [(old.id.bytes, number) for number in range(old.partitions, new.partitions)],
            )
        return True

    @store_call
    def delete_topic(self, topic: Topic) -> bool:
        with self._write() as execute:
            execute("INSERT INTO doomed SELECT * FROM topics WHERE id=?", (topic.id.bytes,))
            return bool(execute("DELETE FROM topics WHERE id=?", (topic.id.bytes,)).rowcount)

    @store_call
    def doomed_topics(self) -> list[Topic]:
        return self._select_topics("doomed")

    @store_call
    def forget_topic(self, topic: Topic) -> None:
        with self._write() as execute:
            for table in ("heads", "extents", "producers", "aborted", "graves", "cursors"):
                execute(f"DELETE FROM {table} WHERE topic=?", (topic.id.bytes,))
            execute("DELETE FROM doomed WHERE id=?", (topic.id.bytes,))

    @store_call
    def forget_producers(self, now_ms: int) -> int:
        with self._write() as execute:
            return execute(
                "DELETE FROM producers WHERE expires_at <= ? AND opened IS NULL", (now_ms,)
            ).rowcount

    @store_call
    def next_producer_ids(self, count: int) -> int:
        with self._write() as execute:
            row = execute(
                "UPDATE cluster SET value = value + ? WHERE name='next_producer_id' "
                "RETURNING value - ?",
                (count, count),
            ).fetchone()
        return int(row[0])

    @store_call
    def cluster_id(self, proposed: str) -> str:
        with self._write() as execute:
            execute("INSERT OR IGNORE INTO cluster VALUES ('cluster_id', ?)", (proposed,))
            row = execute("SELECT value FROM cluster WHERE name='cluster_id'").fetchone()
        return str(row[0])

    async def persist(self) -> None:
        """Make all commits durable, of any process. Raises Unavailable."""
        try:
            await asyncio.to_thread(sync_file, f"{self._path}-wal")
        except OSError as error:
            raise self.health.failed(error, "making the ledger durable") from error

    def finish(self) -> None:
        self._checkpointer.close()
        self._wait_at_most(BUSY_TIMEOUT_MS)
        self.write_behind.close()


def _schema(path: str) -> str:
    """The SQL that creates the ledger; empty if it exists. An older one is upgraded later, by
    `WriteBehind`. The file is checked before it is opened for writing: a database that is not ours
    is not changed."""
    if os.path.exists(path):
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)) as db:
            if format_of(db, path):
                return ""
    return new_ledger()


def new_ledger() -> str:
    """The SQL that creates a ledger. It is one transaction: a half-made ledger would look like
    another format."""
    made = f"{SCHEMA}{TOPIC_CHANGES}{NODES_SCHEMA}PRAGMA user_version={FORMAT};"
    return f"BEGIN IMMEDIATE;{made}COMMIT;"
