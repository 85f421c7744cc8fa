"""A ledger and groups in memory, for an ephemeral broker: SQLite without a file.

Nothing else can open them, so there is no lock, no note beside the database and no checkpoint. They
end with their process.
"""

import sqlite3

from samsa.local.database import Database
from samsa.local.memory_room import MemoryRoom
from samsa.local.sqlite import SqliteLedger, new_ledger
from samsa.local.sqlite_groups import SqliteGroups
from samsa.local.topic_list import TopicList
from samsa.local.write_behind import IN_MEMORY, WriteBehind
from samsa.ports import Unavailable


class _InMemory(Database):
    """What differs from a database in a file."""

    room: MemoryRoom

    def _use(self, room: MemoryRoom) -> None:
        self.room = room
        self._db.execute("PRAGMA temp_store=MEMORY")
        (page_size,) = self._db.execute("PRAGMA page_size").fetchone()
        most = room.most_of_a_ledger // page_size
        self._db.execute(f"PRAGMA max_page_count={most}")
        room.count(lambda: page_size * int(self._db.execute("PRAGMA page_count").fetchone()[0]))

    def failed(self, name: str, error: sqlite3.Error) -> Unavailable:
        return self.room.failed(error, f"SQLite {name}")


class MemoryLedger(_InMemory, SqliteLedger):
    def __init__(self, room: MemoryRoom | None = None) -> None:
        # Does not call SqliteLedger.__init__: no lock, no notes, no checkpoints.
        Database.__init__(self, IN_MEMORY, new_ledger(), fsync=False)
        self._topics = TopicList(self._db)
        self.write_behind = WriteBehind(IN_MEMORY, self._db, lambda _: None)
        self._use(room or MemoryRoom())

    async def persist(self) -> None:
        """Does nothing: what is in memory is as durable as it can be."""

    def finish(self) -> None:
        """Does nothing: only the connection is open."""


class MemoryGroups(_InMemory, SqliteGroups):
    def __init__(self, room: MemoryRoom) -> None:
        super().__init__(IN_MEMORY, alone=lambda: True)
        self._use(room)
