"""The cluster's processes in SQLite. Each call is one statement, and so needs no transaction."""

from samsa.local.database import Database, store_call
from samsa.ports import Node

NODES_SCHEMA = """
CREATE TABLE IF NOT EXISTS nodes (
    id INTEGER PRIMARY KEY, owner TEXT NOT NULL, version INTEGER NOT NULL, host TEXT NOT NULL,
    port INTEGER NOT NULL, zone TEXT NOT NULL, machine TEXT NOT NULL, renewed_at INTEGER NOT NULL
);
"""
SELECT = "SELECT id, owner, version, host, port, zone, machine, renewed_at FROM nodes"
INSERT = "INSERT OR IGNORE INTO nodes VALUES (?,?,?,?,?,?,?,?)"
REPLACE = """
    UPDATE nodes SET owner=?2, version=?3, host=?4, port=?5, zone=?6, machine=?7, renewed_at=?8
    WHERE id=?1 AND owner=?9 AND version=?10"""


class SqliteNodes(Database):
    @store_call
    def nodes(self) -> list[Node]:
        return [Node(*row) for row in self._db.execute(f"{SELECT} ORDER BY id")]

    @store_call
    def put_node(self, node: Node, after: Node | None) -> bool:
        done = (
            self._db.execute(INSERT, node)
            if after is None
            else self._db.execute(REPLACE, (*node, after.owner, after.version))
        )
        if done.rowcount > 0:
            return True
        row = self._db.execute(f"{SELECT} WHERE id=?", (node.id,)).fetchone()
        return row is not None and Node(*row) == node

    @store_call
    def remove_node(self, node: Node) -> None:
        self._db.execute("DELETE FROM nodes WHERE id=? AND owner=?", (node.id, node.owner))
