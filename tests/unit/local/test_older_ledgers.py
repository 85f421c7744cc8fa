"""A ledger of another format is refused by a sentence that says what to do, and not touched."""

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from uuid import UUID

import pytest

from samsa.local import database, sqlite
from samsa.local.schema import FORMAT
from samsa.local.sqlite import SqliteLedger
from samsa.local.sqlite_groups import SqliteGroups
from samsa.ports import Ledger, Misconfigured, Topic
from samsa.runtime.store_urls import open_ledger, open_ledger_to_read

TOPIC = Topic("letters", UUID(int=1), 1, 0)
BEFORE_ONE_COMMIT = """
CREATE TABLE heads (
    topic BLOB, partition INTEGER, next_offset INTEGER NOT NULL DEFAULT 0,
    log_start INTEGER NOT NULL DEFAULT 0, inflight TEXT NOT NULL DEFAULT '{}',
    watchers TEXT NOT NULL DEFAULT '{}', PRIMARY KEY (topic, partition)
) WITHOUT ROWID;
INSERT INTO heads (topic, partition, next_offset) VALUES (x'01', 0, 7);
"""


async def to_write(url: str) -> Ledger:
    return await open_ledger(url, fsync=False)


OPENINGS: dict[str, Callable[[str], Awaitable[Ledger]]] = {
    "samsa up": to_write,
    "who only looks": open_ledger_to_read,
}


def files(folder: Path) -> dict[str, bytes]:
    """But for what SQLite makes for readers."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.suffix not in (".db-shm", ".db-wal")
    }


@pytest.mark.parametrize("how", OPENINGS)
async def test_a_ledger_from_before_one_commit_is_refused_and_left_as_it_is(
    how: str, tmp_path: Path
):
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.executescript(BEFORE_ONE_COMMIT)
    (tmp_path / "ledger.db-notes").write_bytes(b"\0\0\0\x01 notes of another format")
    before = files(tmp_path)
    with pytest.raises(Misconfigured, match=r"older version of Samsa.* --data"):
        await OPENINGS[how](f"sqlite://{path}")
    assert files(tmp_path) == before


@pytest.mark.parametrize("how", OPENINGS)
async def test_a_ledger_that_is_newer_is_refused(how: str, tmp_path: Path):
    path = tmp_path / "ledger.db"
    await SqliteLedger(str(path)).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version={FORMAT + 1}")
    with pytest.raises(Misconfigured, match="newer version of Samsa"):
        await OPENINGS[how](f"sqlite://{path}")


async def test_a_file_with_nothing_but_groups_becomes_a_ledger(tmp_path: Path):
    path = str(tmp_path / "ledger.db")
    await SqliteGroups(path).close()
    ledger = SqliteLedger(path)
    assert await ledger.create_topic(TOPIC)
    await ledger.close()


async def test_a_ledger_that_could_not_be_made_is_made_by_the_next_who_opens_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Half a ledger would be taken for an older one; and nobody may be kept waiting for it."""
    path = str(tmp_path / "ledger.db")
    with monkeypatch.context() as patch:
        patch.setattr(sqlite, "NODES_SCHEMA", "INSERT INTO nothing VALUES (1);")
        with pytest.raises(sqlite3.OperationalError) as failure:
            SqliteLedger(path)
    monkeypatch.setattr(database, "OPENING_S", 0.1)
    ledger = SqliteLedger(path)
    assert await ledger.create_topic(TOPIC)
    await ledger.close()
    assert failure.value


async def test_a_ledger_is_opened_again(tmp_path: Path):
    path = str(tmp_path / "ledger.db")
    ledger = SqliteLedger(path)
    await ledger.create_topic(TOPIC)
    await ledger.close()
    ledger = SqliteLedger(path)
    assert await ledger.topics() == [TOPIC]
    await ledger.close()
