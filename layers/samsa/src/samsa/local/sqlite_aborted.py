"""Aborted transactions in SQLite. A commit enters them, in its own transaction."""

from collections.abc import Sequence
from contextlib import closing

from samsa.local.database import Database, store_call
from samsa.ports import Aborted, Partition


class SqliteAborted(Database):
    @store_call
    def aborted(self, partition: Partition, offset: int, end: int) -> list[Aborted]:
        found: list[Aborted] = []
        rows = self._db.execute(
            "SELECT marker, producer, first, stable FROM aborted "
            "WHERE topic=? AND partition=? AND marker >= ? ORDER BY marker",
            (partition.topic_id.bytes, partition.number, offset),
        )
        with closing(rows):  # the rest is not read
            for aborted in map(Aborted._make, rows):
                if aborted.first < end:
                    found.append(aborted)
                if aborted.stable >= end:
                    break
        return found

    @store_call
    def forget_aborted(
        self,
        partition: Partition,
        markers: Sequence[int],
        below: int = 0,  # noqa: ARG002 - a commit lists what it aborts, so nothing is listed later
    ) -> None:
        topic_id, number = partition.topic_id.bytes, partition.number
        with self._write():
            self._db.executemany(
                "DELETE FROM aborted WHERE topic=? AND partition=? AND marker=?",
                [(topic_id, number, marker) for marker in markers],
            )
