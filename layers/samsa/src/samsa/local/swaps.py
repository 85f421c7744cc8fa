"""Changes of the index in SQLite: swaps of runs of extents, and pending deletions of the replaced
objects.

Each swap is one transaction. It replaces the old extents only if all are exactly as they were read;
otherwise it does nothing.
"""

import sqlite3
from collections.abc import Sequence

from samsa.local.database import Database, store_call
from samsa.local.schema import (
    EXTENT,
    INSERT_EXTENT,
    INSERT_UNLESS_HELD,
    deletion_to_row,
    extent_to_row,
    row_to_deletion,
    row_to_extent,
)
from samsa.ports import Extent, Partition, PendingDeletion, deletions_of

INSERT_DELETION = "INSERT OR IGNORE INTO graves VALUES (?,?,?,?,?,?,?,?)"
TAKE_ANNOUNCED = "DELETE FROM graves WHERE topic=? AND partition=? AND name=? AND announced"


class SwapRefused(Exception):
    """A new segment of the swap is not announced any more."""


class SqliteSwaps(Database):
    def _select_extents(self, partition: Partition, rest: str, *values: int) -> list[Extent]:
        rows = self._db.execute(
            f"SELECT {EXTENT} FROM extents WHERE topic=? AND partition=? {rest}",
            (partition.topic_id.bytes, partition.number, *values),
        )
        return [row_to_extent(row) for row in rows]

    @store_call
    def index(self, partition: Partition, extent: Extent) -> None:
        self._db.execute(INSERT_UNLESS_HELD, extent_to_row(partition, extent))

    @store_call
    def replace_extents(
        self, partition: Partition, old: Sequence[Extent], new: Sequence[Extent]
    ) -> bool:
        try:
            with self._write():
                there = self._between(partition, old[0].base, old[-1].end)
                if there != list(old):
                    return there == list(new)
                self._swap(partition, old, new)
        except SwapRefused:
            return False
        return True

    def _between(self, partition: Partition, base: int, end: int) -> list[Extent]:
        rest = "AND last >= ? AND last < ? ORDER BY last"
        return self._select_extents(partition, rest, base, end)

    def _swap(self, partition: Partition, old: Sequence[Extent], new: Sequence[Extent]) -> None:
        where = (partition.topic_id.bytes, partition.number)
        for key in {extent.key for extent in new} - {extent.key for extent in old}:
            if not self._db.execute(TAKE_ANNOUNCED, (*where, key)).rowcount:
                raise SwapRefused(key)
        self._db.execute(
            "DELETE FROM extents WHERE topic=? AND partition=? AND last >= ? AND last < ?",
            (*where, old[0].base, old[-1].end),
        )
        self._db.executemany(INSERT_EXTENT, [extent_to_row(partition, extent) for extent in new])
        deletions = [deletion_to_row(partition, deletion) for deletion in deletions_of(old, new)]
        self._db.executemany(INSERT_DELETION, deletions)

    @store_call
    def announce(self, partition: Partition, deletion: PendingDeletion) -> None:
        self._db.execute(INSERT_DELETION, deletion_to_row(partition, deletion))

    @store_call
    def pending_deletions(self, partition: Partition, limit: int) -> list[PendingDeletion]:
        rows = self._db.execute(
            "SELECT name, base, until, keys, since, announced FROM graves "
            "WHERE topic=? AND partition=? ORDER BY name LIMIT ?",
            (partition.topic_id.bytes, partition.number, limit),
        )
        return [row_to_deletion(row) for row in rows]

    @store_call
    def condemn(self, partition: Partition, name: str, since: int) -> bool:
        found: sqlite3.Cursor = self._db.execute(
            "UPDATE graves SET since=?, announced=0 WHERE topic=? AND partition=? AND name=?",
            (since, partition.topic_id.bytes, partition.number, name),
        )
        return found.rowcount > 0

    @store_call
    def forget_deletion(self, partition: Partition, name: str) -> None:
        self._db.execute(
            "DELETE FROM graves WHERE topic=? AND partition=? AND name=?",
            (partition.topic_id.bytes, partition.number, name),
        )

    @store_call
    def cursor(self, partition: Partition, name: str) -> int:
        row = self._db.execute(
            "SELECT value FROM cursors WHERE topic=? AND partition=? AND name=?",
            (partition.topic_id.bytes, partition.number, name),
        ).fetchone()
        return int(row[0]) if row else 0

    @store_call
    def move_cursor(self, partition: Partition, name: str, value: int) -> None:
        if value == 0:
            self._db.execute(
                "DELETE FROM cursors WHERE topic=? AND partition=? AND name=?",
                (partition.topic_id.bytes, partition.number, name),
            )
            return
        self._db.execute(
            "INSERT OR REPLACE INTO cursors VALUES (?,?,?,?)",
            (partition.topic_id.bytes, partition.number, name, value),
        )
