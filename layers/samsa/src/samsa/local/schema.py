"""The SQLite ledger's tables, and the conversion between rows and the ports' types.

The file holds the number of its format (`PRAGMA user_version`). Formats from `OLDEST` on are
upgraded when the ledger is opened (`upgrade.py`). A ledger with any other number is refused and not
changed. Ledgers older than the design of one commit have no number: it reads as 0.
"""

import json
import sqlite3
import struct
import sys
from array import array
from typing import Any
from uuid import UUID

from samsa.ports import Aborted, Extent, Head, Misconfigured, Partition, PendingDeletion, Topic

FORMAT = 2
OLDEST = 1

ABORTED = """
CREATE TABLE IF NOT EXISTS aborted (
    topic BLOB, partition INTEGER, marker INTEGER, producer INTEGER NOT NULL,
    first INTEGER NOT NULL, stable INTEGER NOT NULL, PRIMARY KEY (topic, partition, marker)
) WITHOUT ROWID;
"""
# Few producers have a transaction open, so the index is small: the head is read with it.
OPEN_TRANSACTIONS = """
CREATE INDEX IF NOT EXISTS open_transactions ON producers (topic, partition, opened)
    WHERE opened IS NOT NULL;
"""
# A head is one row, as it is one item in DynamoDB. The key of an extent is its last offset: a range
# scan from `last >= O` starts with the extent that contains O.
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS topics (
    name TEXT PRIMARY KEY, id BLOB NOT NULL UNIQUE, partitions INTEGER NOT NULL,
    created_at INTEGER NOT NULL, configs TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS doomed (
    name TEXT NOT NULL, id BLOB PRIMARY KEY, partitions INTEGER NOT NULL,
    created_at INTEGER NOT NULL, configs TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS heads (
    topic BLOB, partition INTEGER, next_offset INTEGER NOT NULL DEFAULT 0,
    log_start INTEGER NOT NULL DEFAULT 0, watchers TEXT NOT NULL DEFAULT '{{}}',
    sweeps INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (topic, partition)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS extents (
    topic BLOB, partition INTEGER, last INTEGER, base INTEGER NOT NULL, offsets INTEGER NOT NULL,
    size INTEGER NOT NULL, max_timestamp INTEGER NOT NULL, stored_at INTEGER NOT NULL,
    key TEXT NOT NULL, marks BLOB NOT NULL, records INTEGER NOT NULL,
    start INTEGER NOT NULL, times BLOB NOT NULL, shift INTEGER NOT NULL, data BLOB NOT NULL,
    id TEXT NOT NULL, PRIMARY KEY (topic, partition, last)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS graves (
    topic BLOB, partition INTEGER, name TEXT, base INTEGER NOT NULL, until INTEGER NOT NULL,
    keys TEXT NOT NULL, since INTEGER NOT NULL, announced INTEGER NOT NULL,
    PRIMARY KEY (topic, partition, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cursors (
    topic BLOB, partition INTEGER, name TEXT, value INTEGER NOT NULL,
    PRIMARY KEY (topic, partition, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS producers (
    topic BLOB, partition INTEGER, producer INTEGER, version INTEGER NOT NULL, state BLOB NOT NULL,
    expires_at INTEGER NOT NULL, base INTEGER NOT NULL, opened INTEGER,
    PRIMARY KEY (topic, partition, producer)
) WITHOUT ROWID;
{OPEN_TRANSACTIONS}{ABORTED}
CREATE TABLE IF NOT EXISTS cluster (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT OR IGNORE INTO cluster VALUES ('next_producer_id', 1000);
"""


NOTHING = "{}"
_MARK = struct.Struct(">II")


def format_of(db: sqlite3.Connection, path: str) -> int:
    """0 if there is no ledger in the file yet. Raises Misconfigured if it is neither `FORMAT` nor
    one that can be upgraded."""
    found = int(db.execute("PRAGMA user_version").fetchone()[0])
    if OLDEST <= found <= FORMAT or not db.execute("PRAGMA table_info(heads)").fetchone():
        return found
    age = "an older" if found < FORMAT else "a newer"
    raise Misconfigured(
        f"{path} was made by {age} version of Samsa, and this one cannot read it: name another "
        "folder with --data, or go on with the version that made it"
    )


def pack_marks(marks: tuple[tuple[int, int], ...]) -> bytes:
    return b"".join(_MARK.pack(*mark) for mark in marks)


def unpack_marks(packed: bytes) -> tuple[tuple[int, int], ...]:
    return tuple(_MARK.iter_unpack(packed))


def pack_times(times: tuple[int, ...]) -> bytes:
    """Without struct, which would parse a new format string for every new length."""
    return _big_endian(array("q", times)).tobytes()


def unpack_times(packed: bytes) -> tuple[int, ...]:
    return tuple(_big_endian(array("q", packed)))


def _big_endian(numbers: "array[int]") -> "array[int]":
    """Convert between this machine's byte order and that of the database, in both directions."""
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers


EXTENT = (
    "base, offsets, size, max_timestamp, stored_at, key, marks, records, start, times, shift, "
    "data, id"
)
MARKS, TIMES = Extent._fields.index("marks"), Extent._fields.index("times")
# One statement, so that all of it is true at the same moment. INDEXED BY: SQLite would take the
# primary key instead, and scan all producers of the partition.
HEAD = """next_offset, log_start, watchers,
    (SELECT group_concat(producer || ' ' || opened) FROM producers INDEXED BY open_transactions
        WHERE topic=heads.topic AND partition=heads.partition AND opened IS NOT NULL),
    (SELECT coalesce(max(marker) + 1, 0) FROM aborted
        WHERE topic=heads.topic AND partition=heads.partition)"""
INSERT_ABORTED = "INSERT OR IGNORE INTO aborted VALUES (?,?,?,?,?,?)"
INSERT_EXTENT = "INSERT OR IGNORE INTO extents VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
# Only the first extent that ends at or after our base can overlap ours: others begin after it.
INSERT_UNLESS_HELD = """
    INSERT INTO extents SELECT ?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16
    WHERE coalesce((SELECT base FROM extents WHERE topic=?1 AND partition=?2 AND last >= ?4
        ORDER BY last LIMIT 1), ?3 + 1) > ?3"""


def extent_to_row(partition: Partition, extent: Extent) -> tuple[Any, ...]:
    values: list[Any] = list(extent)
    values[MARKS] = pack_marks(extent.marks) if extent.marks else b""
    values[TIMES] = pack_times(extent.times) if extent.times else b""
    return (partition.topic_id.bytes, partition.number, extent.end - 1, *values)


def committed(extent: Extent, base: int, key: str, start: int) -> Extent:
    """The append of `extent`, with its real base and place. `extent.base` is a guess."""
    guess, offsets, size, newest, stored_at, _, marks, records, _, times, *_ = extent
    shift = base - guess
    return Extent(base, offsets, size, newest, stored_at, key, marks, records, start, times, shift)


def row_to_extent(row: tuple[Any, ...]) -> Extent:
    values = list(row)
    values[MARKS] = unpack_marks(values[MARKS]) if values[MARKS] else ()
    values[TIMES] = unpack_times(values[TIMES]) if values[TIMES] else ()
    return Extent._make(values)


def row_to_head(row: tuple[Any, ...]) -> Head:
    next_offset, log_start, watchers, opened, aborted_to = row
    return Head(
        next_offset,
        log_start,
        {} if watchers == NOTHING else json.loads(watchers),
        0,
        (),
        _open_transactions(opened) if opened else {},
        aborted_to,
    )


def _open_transactions(joined: str) -> dict[int, int]:
    pairs = (pair.split() for pair in joined.split(","))
    return {int(producer_id): int(first) for producer_id, first in pairs}


def aborted_to_row(partition: Partition, aborted: Aborted) -> tuple[Any, ...]:
    return (partition.topic_id.bytes, partition.number, *aborted)


def deletion_to_row(partition: Partition, deletion: PendingDeletion) -> tuple[Any, ...]:
    name, base, end, keys, since, announced = deletion
    where = partition.topic_id.bytes, partition.number
    return (*where, name, base, end, json.dumps(keys), since, announced)


def row_to_deletion(row: tuple[Any, ...]) -> PendingDeletion:
    name, base, end, keys, since, announced = row
    return PendingDeletion(name, base, end, tuple(json.loads(keys)), since, bool(announced))


def row_to_topic(row: tuple[Any, ...]) -> Topic:
    name, topic_id, partitions, created_at, configs = row
    return Topic(name, UUID(bytes=topic_id), partitions, created_at, json.loads(configs))
