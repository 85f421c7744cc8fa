"""Entries of access control in SQLite, beside the groups and through their connection.

A ledger that was made before these tables gets them when it is opened. That needs no new format:
processes of an older version do not look at them.
"""

from samsa.local.database import Database, store_call
from samsa.ports import SecurityChange, SecurityEntry, SecurityKind, SecurityState
from samsa.ports.bounds import raise_if_large_security

SECURITY_SCHEMA = """
CREATE TABLE IF NOT EXISTS security (
    kind TEXT, name TEXT, value TEXT NOT NULL, PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS security_version (
    id INTEGER PRIMARY KEY CHECK (id = 0), version INTEGER NOT NULL, change TEXT NOT NULL
);
"""
VERSION = "SELECT version, change FROM security_version"


class SqliteSecurity(Database):
    def _version(self) -> tuple[int, str]:
        row = self._db.execute(VERSION).fetchone()
        return row or (0, "")

    @store_call
    def security_version(self) -> int:
        return self._version()[0]

    @store_call
    def security(self) -> SecurityState:
        version, _ = self._version()  # before the entries: they may be newer, and never older
        rows = self._db.execute("SELECT kind, name, value FROM security").fetchall()
        return SecurityState(
            version, [SecurityEntry(SecurityKind(kind), name, value) for kind, name, value in rows]
        )

    @store_call
    def change_security(self, change: SecurityChange, after: int) -> bool:
        raise_if_large_security(change)
        with self._write() as execute:
            version, last = self._version()
            if version != after:
                return (version, last) == (after + 1, change.id)
            self._db.executemany("INSERT OR REPLACE INTO security VALUES (?,?,?)", change.put)
            self._db.executemany(
                "DELETE FROM security WHERE kind=? AND name=?",
                [(entry.kind, entry.name) for entry in change.removed],
            )
            execute(
                "INSERT OR REPLACE INTO security_version VALUES (0,?,?)", (after + 1, change.id)
            )
        return True
