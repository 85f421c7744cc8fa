"""Settling: writes notes to the database, in one transaction.

Only the transaction that settles a note moves the head over its offsets. So if the head is there
already, the note is settled. Such a note is left out: since then extents may have been merged or
dropped, and producers and aborted transactions forgotten.
"""

import sqlite3

from samsa.local.append_journal import Note
from samsa.local.database import SqlTransaction
from samsa.local.schema import INSERT_ABORTED, INSERT_EXTENT, aborted_to_row, extent_to_row
from samsa.ports import Extent, Partition
from samsa.ports.joining import adjoin, join_extents

RAISE_HEAD = """
    UPDATE heads SET next_offset = max(next_offset, ?) WHERE topic=? AND partition=?"""
RAISE_PRODUCER = """
    INSERT INTO producers VALUES (?,?,?,?,?,?,?,?)
    ON CONFLICT DO UPDATE SET version = excluded.version, state = excluded.state,
        expires_at = excluded.expires_at, base = excluded.base, opened = excluded.opened
    WHERE version < excluded.version"""


def write_notes(db: sqlite3.Connection, notes: list[Note], perhaps_again: bool) -> None:
    """`perhaps_again`: some of the notes may be in the database already."""
    with SqlTransaction(db):
        if perhaps_again:
            notes = _not_written(db, notes)
        heads = {note.partition: note.extent.end for note in notes}
        there = {p for p, end in heads.items() if _raise_head(db, p, end)}
        db.executemany(
            INSERT_EXTENT,
            [extent_to_row(where, one) for where, one in _joined(notes) if where in there],
        )
        db.executemany(RAISE_PRODUCER, [row for where, row in _producers(notes) if where in there])
        db.executemany(
            INSERT_ABORTED,
            [
                aborted_to_row(note.partition, note.aborted)
                for note in notes
                if note.aborted and note.partition in there
            ],
        )


def _not_written(db: sqlite3.Connection, notes: list[Note]) -> list[Note]:
    ends = {partition: _end(db, partition) for partition in {note.partition for note in notes}}
    return [note for note in notes if note.extent.base >= ends[note.partition]]


def _end(db: sqlite3.Connection, partition: Partition) -> int:
    """0 if the topic was deleted."""
    row = db.execute(
        "SELECT next_offset FROM heads WHERE topic=? AND partition=?",
        (partition.topic_id.bytes, partition.number),
    ).fetchone()
    return int(row[0]) if row else 0


def _raise_head(db: sqlite3.Connection, partition: Partition, end: int) -> bool:
    """False if the topic was deleted."""
    where = (end, partition.topic_id.bytes, partition.number)
    return db.execute(RAISE_HEAD, where).rowcount > 0


def _producers(notes: list[Note]) -> list[tuple[Partition, tuple[object, ...]]]:
    """The row of each producer after the last of its notes."""
    last = {
        (note.partition, claim.producer_id): (claim, note)
        for note in notes
        for claim in note.claims
    }
    return [
        (
            partition,
            (
                partition.topic_id.bytes,
                partition.number,
                producer_id,
                claim.after + 1,
                claim.state,
                claim.expires_at,
                note.extent.base,
                note.opened_by(claim),
            ),
        )
        for (partition, producer_id), (claim, note) in last.items()
    ]


def _joined(notes: list[Note]) -> list[tuple[Partition, Extent]]:
    """Each partition's extents, in order, with adjacent ones joined."""
    runs: list[tuple[Partition, list[Extent]]] = []
    last: dict[Partition, list[Extent]] = {}
    for partition, extent, *_ in notes:
        run = last.get(partition)
        if run is None or not adjoin(run[-1], extent):
            run = last[partition] = []
            runs.append((partition, run))
        run.append(extent)
    return [(partition, _one(run)) for partition, run in runs]


def _one(run: list[Extent]) -> Extent:
    return run[0] if len(run) == 1 else join_extents(run, run[0].key, run[0].start)
