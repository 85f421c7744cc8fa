"""Journals, and what is appended to them."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from functional.given import an_extent

from samsa.aws.journal import HeadJournal
from samsa.local.folder import FolderObjects
from samsa.local.journal import SqliteJournal
from samsa.local.memory import MemoryObjects
from samsa.local.object_journal import ObjectJournal
from samsa.ports import Claim, CommitResult, Extent, Journal, Objects, Partition

A_TIME = 1_700_000_000_000
A_WEEK = 7 * 86_400_000
PLACES = [
    "sqlite packs",
    "sqlite notes",
    "sqlite objects",
    "in-memory",
    "dynamodb-moto",
    "dynamodb-local",
    "dynamodb-embedded",
]


class Place(NamedTuple):
    ledger: Any
    objects: Objects
    journal: Journal
    other: Journal
    """Of another process; with notes, another one of the process that is alone."""


class SetClock:
    def __init__(self) -> None:
        self.now = A_TIME

    def now_ms(self) -> int:
        return self.now


def words() -> Any:
    """Short ones, which no other journal has."""
    process, numbers = uuid4().hex[:7], itertools.count()
    return lambda: f"{process}{next(numbers):03}"


def a_journal(
    heads: Any, objects: Objects | None = None, clock: SetClock | None = None
) -> HeadJournal:
    return HeadJournal(heads, objects or MemoryObjects(), words(), clock or SetClock())


def open_place(kind: str, ledger: Any, folder: Path) -> Place:
    if kind in ("sqlite packs", "sqlite notes"):
        folders = FolderObjects(str(folder / "objects"))
        one, other = (SqliteJournal(ledger, folders.root, name) for name in "ab")
        assert one.stay_alone() if kind == "sqlite notes" else not ledger.write_behind.alone
        return Place(ledger, folders, one, other)
    objects = MemoryObjects(ledger.room if kind == "in-memory" else None)
    if kind in ("sqlite objects", "in-memory"):
        return Place(ledger, objects, *(ObjectJournal(ledger, objects, words()) for _ in range(2)))
    return Place(ledger, objects, *(a_journal(ledger, objects) for _ in range(2)))


def a_claim(producer_id: int, state: bytes = b"state", after: int = 0) -> Claim:
    return Claim(producer_id, state, after, A_TIME + A_WEEK)


async def put(
    journal: Journal,
    partition: Partition,
    data: bytes = b"d" * 100,
    claims: Sequence[Claim] = (),
    offsets: int = 1,
) -> CommitResult:
    guess = await journal.next_offset(partition)
    extent = an_extent(guess, offsets, size=len(data), key="", stored_at=A_TIME, records=offsets)
    return await journal.commit(partition, extent, [data], claims)


async def extents_of(ledger: Any, partition: Partition) -> list[Extent]:
    """As a reader finds them: the head first, then the index. Without holes, and to the end."""
    head = await ledger.head(partition)
    found = {extent.base: extent for extent in await ledger.extents(partition, 0, 10_000)}
    found |= {entry.base: entry for entry in head.tail}
    offset = 0
    for base, extent in sorted(found.items()):
        assert base == offset
        offset = extent.end
    assert offset == head.next_offset
    return [extent for _, extent in sorted(found.items())]


async def bytes_of(extent: Extent, objects: Objects) -> bytes:
    if extent.data:
        return extent.data
    return bytes(await objects.get(extent.key, extent.start, extent.size))
