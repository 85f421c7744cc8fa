"""Transactional ids and pending offsets in SQLite, beside the groups and through their connection.

A producer's transaction in a group is a row in `offset_transactions`. It stays after the end, so
that late calls are refused, until it expires. While the transaction is open, its offsets are in
`pending_offsets`.
"""

from collections.abc import Callable

from samsa.local.database import Database, store_call
from samsa.local.known_versions import KnownVersions
from samsa.ports import Committed, Offsets, PendingOffsets, TransactionItem
from samsa.ports.bounds import raise_if_large_pending, raise_if_large_transaction

TRANSACTIONS_SCHEMA = """
CREATE TABLE IF NOT EXISTS transactions (
    id TEXT PRIMARY KEY, version INTEGER NOT NULL, producer INTEGER NOT NULL, state BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS transactions_by_producer ON transactions (producer);
CREATE TABLE IF NOT EXISTS offset_transactions (
    group_id TEXT, producer INTEGER, serial INTEGER NOT NULL, ended INTEGER NOT NULL,
    expires_at INTEGER NOT NULL, PRIMARY KEY (group_id, producer)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS offset_transactions_by_expiry ON offset_transactions (expires_at)
    WHERE ended;
CREATE TABLE IF NOT EXISTS pending_offsets (
    group_id TEXT, producer INTEGER, topic TEXT, partition INTEGER,
    offset INTEGER NOT NULL, leader_epoch INTEGER NOT NULL, metadata TEXT NOT NULL,
    committed_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    PRIMARY KEY (group_id, producer, topic, partition)
) WITHOUT ROWID;
"""
TRANSACTION = """
    SELECT version, producer, CASE WHEN version = ? THEN x'' ELSE state END
    FROM transactions WHERE id = ?"""
PUT_OFFSET_TRANSACTION = "INSERT OR REPLACE INTO offset_transactions VALUES (?,?,?,?,?)"
# As `SqliteGroups.commit` with generation -1, which leaves the stored generation as it is.
APPLY = """
    INSERT INTO offsets
    SELECT group_id, topic, partition, -1, offset, leader_epoch, metadata, committed_at, expires_at
    FROM pending_offsets WHERE group_id=? AND producer=?
    ON CONFLICT DO UPDATE SET offset = excluded.offset, leader_epoch = excluded.leader_epoch,
        metadata = excluded.metadata, committed_at = excluded.committed_at,
        expires_at = excluded.expires_at"""
# As `pending_weight` of `ports.bounds`. The length of a text would be that of its characters.
PENDING_WEIGHT = """
    SELECT coalesce(sum(80 + length(CAST(topic AS BLOB)) + length(CAST(metadata AS BLOB))), 0)
    FROM pending_offsets WHERE group_id=? AND producer=?"""
PENDING = """
    SELECT producer, serial, topic, partition,
        offset, leader_epoch, metadata, committed_at, p.expires_at
    FROM offset_transactions JOIN pending_offsets p USING (group_id, producer)
    WHERE group_id=? ORDER BY producer, topic, partition"""
LONGEST_EXPIRY_MS = 30 * 86_400_000
"""No call's `expires_at` is further ahead than this. So a row that expires this long before the
`expires_at` of a new call has expired by now."""
DELETED = TransactionItem(0, -1, b"")


class SqliteTransactions(Database):
    def __init__(self, path: str, schema: str, fsync: bool, alone: Callable[[], bool]) -> None:
        super().__init__(path, schema + TRANSACTIONS_SCHEMA, fsync)
        self._known_transactions = KnownVersions(alone)

    def is_current_transaction(self, transactional_id: str, version: int) -> bool:
        return self._known_transactions.is_current(transactional_id, version)

    def _transaction(self, transactional_id: str, known: int = 0) -> TransactionItem | None:
        row = self._db.execute(TRANSACTION, (known, transactional_id)).fetchone()
        return TransactionItem(*row) if row else None

    @store_call
    def transaction(self, transactional_id: str, known: int = 0) -> TransactionItem | None:
        found = self._transaction(transactional_id, known)
        if found:
            self._known_transactions.remember(transactional_id, found.version)
        return found

    @store_call
    def put_transaction(
        self, transactional_id: str, item: TransactionItem, after: int
    ) -> TransactionItem | None:
        raise_if_large_transaction(item.state)
        self._known_transactions.forget(transactional_id)
        if after == 0:
            done = self._db.execute(
                "INSERT OR IGNORE INTO transactions VALUES (?,?,?,?)", (transactional_id, *item)
            )
        else:
            done = self._db.execute(
                "UPDATE transactions SET version=?, producer=?, state=? WHERE id=? AND version=?",
                (*item, transactional_id, after),
            )
        there = item if done.rowcount else self._transaction(transactional_id) or DELETED
        if there.version:
            self._known_transactions.remember(transactional_id, there.version)
        return None if there == item else there

    @store_call
    def transactional_id_of(self, producer_id: int) -> str | None:
        row = self._db.execute(
            "SELECT id FROM transactions WHERE producer=?", (producer_id,)
        ).fetchone()
        return str(row[0]) if row else None

    @store_call
    def transactional_ids(self) -> list[str]:
        return [row[0] for row in self._db.execute("SELECT id FROM transactions ORDER BY id")]

    @store_call
    def delete_transaction(self, transactional_id: str, version: int) -> bool:
        self._known_transactions.forget(transactional_id)
        deleted = self._db.execute(
            "DELETE FROM transactions WHERE id=? AND version=?", (transactional_id, version)
        ).rowcount
        return bool(deleted) or self._transaction(transactional_id) is None

    @store_call
    def add_pending(
        self, group_id: str, producer_id: int, serial: int, offsets: Offsets, expires_at: int
    ) -> bool:
        with self._write() as execute:
            if not self._enter(group_id, producer_id, serial, expires_at):
                return False
            self._put_offset_transaction(group_id, producer_id, serial, False, expires_at)
            self._db.executemany(
                "INSERT OR REPLACE INTO pending_offsets VALUES (?,?,?,?,?,?,?,?,?)",
                [(group_id, producer_id, *where, *one) for where, one in offsets.items()],
            )
            (weight,) = execute(PENDING_WEIGHT, (group_id, producer_id)).fetchone()
            raise_if_large_pending(weight)
        return True

    @store_call
    def end_pending(
        self, group_id: str, producer_id: int, serial: int, is_committed: bool, expires_at: int
    ) -> None:
        with self._write() as execute:
            if not self._enter(group_id, producer_id, serial, expires_at):
                return
            if is_committed:
                execute(APPLY, (group_id, producer_id))
            self._remove_pending(group_id, producer_id)
            self._put_offset_transaction(group_id, producer_id, serial, True, expires_at)

    def _enter(self, group_id: str, producer_id: int, serial: int, expires_at: int) -> bool:
        """False if the transaction has ended here, or a later one is known. Otherwise removes what
        is left of an earlier one."""
        row = self._db.execute(
            "SELECT serial, ended FROM offset_transactions WHERE group_id=? AND producer=?",
            (group_id, producer_id),
        ).fetchone()
        if row is None:
            self._db.execute(
                "DELETE FROM offset_transactions WHERE ended AND expires_at < ?",
                (expires_at - LONGEST_EXPIRY_MS,),
            )
            return True
        last, ended = row
        if last < serial:
            self._remove_pending(group_id, producer_id)
            return True
        return last == serial and not ended

    def _put_offset_transaction(
        self, group_id: str, producer_id: int, serial: int, ended: bool, expires_at: int
    ) -> None:
        row = (group_id, producer_id, serial, ended, expires_at)
        self._db.execute(PUT_OFFSET_TRANSACTION, row)

    def _remove_pending(self, group_id: str, producer_id: int) -> None:
        self._db.execute(
            "DELETE FROM pending_offsets WHERE group_id=? AND producer=?", (group_id, producer_id)
        )

    @store_call
    def pending(self, group_id: str) -> list[PendingOffsets]:
        found: dict[int, PendingOffsets] = {}
        for producer_id, serial, topic, number, *rest in self._db.execute(PENDING, (group_id,)):
            one = found.setdefault(producer_id, PendingOffsets(producer_id, serial, {}))
            one.offsets[topic, number] = Committed(*rest)
        return list(found.values())
