"""The SQLite ledger's tables, and how its rows become the ports' types."""

import json
import struct
import sys
from array import array
from typing import Any
from uuid import UUID

from samsa.ports import Extent, Grave, Head, Partition, Topic

# A head is one row, as it is one item in DynamoDB: a reserve is one statement, and so needs no
# transaction around it. An extent is found by its last offset: one range scan from
# `last >= O` starts with the extent that contains O.
SCHEMA = """
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
    log_start INTEGER NOT NULL DEFAULT 0, inflight TEXT NOT NULL DEFAULT '{}',
    watchers TEXT NOT NULL DEFAULT '{}', PRIMARY KEY (topic, partition)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS extents (
    topic BLOB, partition INTEGER, last INTEGER, base INTEGER NOT NULL, offsets INTEGER NOT NULL,
    size INTEGER NOT NULL, max_timestamp INTEGER NOT NULL, stored_at INTEGER NOT NULL,
    key TEXT NOT NULL, marks BLOB NOT NULL, records INTEGER NOT NULL,
    start INTEGER NOT NULL, times BLOB NOT NULL DEFAULT x'', PRIMARY KEY (topic, partition, last)
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
    expires_at INTEGER NOT NULL, PRIMARY KEY (topic, partition, producer)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cluster (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT OR IGNORE INTO cluster VALUES ('next_producer_id', 1000);
"""

NOTHING = "{}"
_MARK = struct.Struct(">II")


def pack_marks(marks: tuple[tuple[int, int], ...]) -> bytes:
    return b"".join(_MARK.pack(*mark) for mark in marks)


def unpack_marks(packed: bytes) -> tuple[tuple[int, int], ...]:
    return tuple(_MARK.iter_unpack(packed))


def pack_times(times: tuple[int, ...]) -> bytes:
    """Not with struct, which would read a new format for every new length."""
    return _big_endian(array("q", times)).tobytes()


def unpack_times(packed: bytes) -> tuple[int, ...]:
    return tuple(_big_endian(array("q", packed)))


def _big_endian(numbers: "array[int]") -> "array[int]":
    """As in the database, from what they are in this machine's memory; and back."""
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers


EXTENT = "base, offsets, size, max_timestamp, stored_at, key, marks, records, start, times"
INSERT_EXTENT = "INSERT OR IGNORE INTO extents VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"
# The first extent that ends after ours begins is the only one that could hold some of it.
INSERT_UNLESS_HELD = """
    INSERT INTO extents SELECT ?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13
    WHERE coalesce((SELECT base FROM extents WHERE topic=?1 AND partition=?2 AND last >= ?4
        ORDER BY last LIMIT 1), ?3 + 1) > ?3"""


def extent_to_row(partition: Partition, extent: Extent) -> tuple[Any, ...]:
    base, offsets, size, max_timestamp, stored_at, key, marks, records, start, times = extent
    return (
        partition.topic_id.bytes,
        partition.number,
        base + offsets - 1,
        base,
        offsets,
        size,
        max_timestamp,
        stored_at,
        key,
        pack_marks(marks) if marks else b"",
        records,
        start,
        pack_times(times) if times else b"",
    )


def row_to_extent(row: tuple[Any, ...]) -> Extent:
    base, offsets, size, max_timestamp, stored_at, key, marks, records, start, times = row
    return Extent(
        base,
        offsets,
        size,
        max_timestamp,
        stored_at,
        key,
        unpack_marks(marks) if marks else (),
        records,
        start,
        unpack_times(times) if times else (),
    )


def row_to_head(row: tuple[Any, ...]) -> Head:
    next_offset, log_start, inflight, watchers = row
    return Head(
        next_offset,
        log_start,
        {} if inflight == NOTHING else json.loads(inflight),
        {} if watchers == NOTHING else json.loads(watchers),
    )


def grave_to_row(partition: Partition, grave: Grave) -> tuple[Any, ...]:
    name, base, end, keys, since, announced = grave
    where = partition.topic_id.bytes, partition.number
    return (*where, name, base, end, json.dumps(keys), since, announced)


def row_to_grave(row: tuple[Any, ...]) -> Grave:
    name, base, end, keys, since, announced = row
    return Grave(name, base, end, tuple(json.loads(keys)), since, bool(announced))


def row_to_topic(row: tuple[Any, ...]) -> Topic:
    name, topic_id, partitions, created_at, configs = row
    return Topic(name, UUID(bytes=topic_id), partitions, created_at, json.loads(configs))
