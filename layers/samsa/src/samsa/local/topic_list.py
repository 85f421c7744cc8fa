"""A cache of all topics of a SQLite ledger, in memory.

Clients ask for all topics, and to read and build ten thousand takes a tenth of a second. Triggers
record the name of each topic that any process creates, changes or deletes. A listing reads only the
changes since the last one.
"""

import sqlite3
from bisect import bisect_left, insort

from samsa.local.schema import row_to_topic
from samsa.ports import Topic

NOTED = 10_000
"""Changes that are kept. After more changes than that, a listing reads everything."""
SELECT = "SELECT name, id, partitions, created_at, configs FROM topics"
_TABLE = """
CREATE TABLE IF NOT EXISTS topic_changes (version INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT);"""
TOPIC_CHANGES = _TABLE + "".join(
    f"""
CREATE TRIGGER IF NOT EXISTS topic_{event.lower()} AFTER {event} ON topics BEGIN
    INSERT INTO topic_changes (name) VALUES ({row}.name);
    DELETE FROM topic_changes WHERE version <= (SELECT max(version) FROM topic_changes) - {NOTED};
END;"""
    for event, row in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD"))
)


class TopicList:
    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._version = -1
        self._names: list[str] = []
        self._topics: dict[str, Topic] = {}
        self._listed: list[Topic] = []

    def current(self) -> list[Topic]:
        """Sorted by name. Do not modify it: without changes it is the same list as before."""
        changes = self._db.execute(
            "SELECT version, name FROM topic_changes WHERE version > ? ORDER BY version",
            (self._version,),
        ).fetchall()
        if self._version < 0 or (changes and changes[0][0] != self._version + 1):
            self._read_all()
        elif changes:
            for name in {name for _, name in changes}:
                self._read(name)
            self._version = changes[-1][0]
            self._listed = [self._topics[name] for name in self._names]
        return self._listed

    def _read_all(self) -> None:
        """The version is read first: what changes meanwhile is read again the next time."""
        (version,) = self._db.execute("SELECT max(version) FROM topic_changes").fetchone()
        self._listed = [row_to_topic(row) for row in self._db.execute(SELECT + " ORDER BY name")]
        self._topics = {topic.name: topic for topic in self._listed}
        self._names = list(self._topics)
        self._version = version or 0

    def _read(self, name: str) -> None:
        row = self._db.execute(SELECT + " WHERE name=?", (name,)).fetchone()
        if row is None:
            if self._topics.pop(name, None) is not None:
                del self._names[bisect_left(self._names, name)]
            return
        if name not in self._topics:
            insort(self._names, name)
        self._topics[name] = row_to_topic(row)
