"""What only the SQLite store of transactions promises: what it knows while it is alone, and what
it forgets."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from samsa.local.sqlite_groups import SqliteGroups
from samsa.local.sqlite_transactions import LONGEST_EXPIRY_MS
from samsa.ports import Committed, TransactionItem, Unavailable

NOW = 1_700_000_000_000
A_WEEK = 7 * 86_400_000
LETTERS = ("letters", 0)
OFFSETS = {LETTERS: Committed(7, 0, "", NOW, 0)}


class Alone:
    is_alone = True

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "ledger.db")
        self.store = SqliteGroups(self.path, alone=lambda: self.is_alone)

    def ends(self) -> list[tuple[str, int]]:
        with closing(sqlite3.connect(self.path)) as db:
            return db.execute(
                "SELECT group_id, producer FROM offset_transactions ORDER BY 1, 2"
            ).fetchall()


@pytest.fixture
async def alone(tmp_path: Path) -> AsyncIterator[Alone]:
    alone = Alone(tmp_path)
    yield alone
    await alone.store.close()


def item(version: int) -> TransactionItem:
    return TransactionItem(version, 1000, b"state %d" % version)


async def test_while_alone_the_version_that_was_stored_last_is_current(alone: Alone):
    store = alone.store
    assert not store.is_current_transaction("payments", 1)
    await store.put_transaction("payments", item(1), 0)
    assert store.is_current_transaction("payments", 1)
    await store.put_transaction("payments", item(2), 1)
    assert store.is_current_transaction("payments", 2)
    assert not store.is_current_transaction("payments", 1)
    assert not store.is_current("payments", 2)


async def test_while_alone_the_version_that_was_read_last_is_current(alone: Alone):
    await alone.store.put_transaction("payments", item(1), 0)
    await alone.store.close()
    alone.store = SqliteGroups(alone.path, alone=lambda: alone.is_alone)
    assert not alone.store.is_current_transaction("payments", 1)
    await alone.store.transaction("payments")
    assert alone.store.is_current_transaction("payments", 1)


async def test_a_put_that_was_refused_leaves_the_version_that_is_there_current(alone: Alone):
    await alone.store.put_transaction("payments", item(1), 0)
    await alone.store.put_transaction("payments", item(3), 2)
    assert alone.store.is_current_transaction("payments", 1)
    assert not alone.store.is_current_transaction("payments", 3)


async def test_what_was_deleted_or_is_shared_is_not_current(alone: Alone):
    for name in ("payments", "refunds"):
        await alone.store.put_transaction(name, item(1), 0)
    await alone.store.delete_transaction("payments", 1)
    assert not alone.store.is_current_transaction("payments", 1)
    alone.is_alone = False
    assert not alone.store.is_current_transaction("refunds", 1)


async def test_what_was_stored_while_the_ledger_was_shared_is_not_current(alone: Alone):
    alone.is_alone = False
    await alone.store.put_transaction("payments", item(1), 0)
    alone.is_alone = True
    assert not alone.store.is_current_transaction("payments", 1)


async def test_ends_are_forgotten_once_they_have_expired(alone: Alone):
    store = alone.store
    expiry = NOW + A_WEEK
    for number in range(3):
        await store.add_pending("family", number, 1, OFFSETS, expiry)
    for number in range(2):
        await store.end_pending("family", number, 1, True, expiry)
    later = expiry + LONGEST_EXPIRY_MS
    await store.end_pending("other", 9, 1, True, later)
    assert alone.ends() == [("family", 0), ("family", 1), ("family", 2), ("other", 9)]
    await store.end_pending("another", 9, 1, True, later + 1)
    assert alone.ends() == [("another", 9), ("family", 2), ("other", 9)]
    assert [one.producer_id for one in await store.pending("family")] == [2]


async def test_offsets_are_added_all_or_none(alone: Alone):
    bad = {LETTERS: OFFSETS[LETTERS], ("parcels", 0): OFFSETS[LETTERS]._replace(metadata=None)}
    with pytest.raises(Unavailable):
        await alone.store.add_pending("family", 1000, 3, bad, NOW)
    assert await alone.store.pending("family") == []
    assert alone.ends() == []
