"""A ledger of format 1 is upgraded when it is opened, together with the notes that wait beside it.

`older/` has such a ledger: five appends of the producers 7 and 8, of which three are in the notes.
"""

import asyncio
import fcntl
import sqlite3
from contextlib import closing
from pathlib import Path
from uuid import UUID

import pytest

from samsa.local import upgrade
from samsa.local.read_only_ledger import look_on
from samsa.local.schema import FORMAT
from samsa.local.sqlite import SqliteLedger
from samsa.local.sqlite_groups import SqliteGroups
from samsa.ports import (
    Aborted,
    Bound,
    Claim,
    Committed,
    End,
    Extent,
    Head,
    Misconfigured,
    Partition,
    SecurityChange,
    SecurityEntry,
    SecurityKind,
)

PARTITION = Partition(UUID(int=1), 0)
A_TIME = 1_700_000_000_000
A_WEEK = 7 * 86_400_000
OLDER = Path(__file__).parent / "older"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.executescript((OLDER / "format_1.sql").read_text())
    notes(path).write_bytes((OLDER / "format_1.notes").read_bytes())
    assert format_of(path) == 1
    return path


def notes(path: Path) -> Path:
    return path.with_name("ledger.db-notes")


def format_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("PRAGMA user_version").fetchone()[0])


async def check(ledger: SqliteLedger) -> None:
    """All five appends are there."""
    assert await ledger.head(PARTITION) == Head(5, 0, {})
    extents = await ledger.extents(PARTITION, 0, 99)
    assert [extent.base for extent in extents[:3]] == [0, 1, 2]
    assert sum(extent.size for extent in extents) == 5 * 10
    assert extents[-1].end == 5
    assert await ledger.producers(PARTITION, A_TIME) == {
        7: Bound(3, b"third", 4),
        8: Bound(2, b"next", 4),
    }
    assert [topic.name for topic in await ledger.topics()] == ["letters"]


async def append(ledger: SqliteLedger, claim: Claim) -> Head:
    extent = Extent(5, 1, 10, A_TIME, A_TIME, "", (), 1)
    head, base, _ = await ledger.commit(PARTITION, extent, "pack/new", 0, [claim])
    assert base == head.next_offset - 1
    return head


async def test_what_is_in_an_older_ledger_and_in_its_notes_is_read(path: Path):
    ledger = SqliteLedger(str(path))
    await check(ledger)
    await ledger.close()
    groups = SqliteGroups(str(path))
    assert await groups.offsets("family", A_TIME) == {
        ("letters", 0): Committed(1, 0, "", A_TIME, 0)
    }
    await groups.close()
    assert format_of(path) == FORMAT
    assert notes(path).stat().st_size == 0


async def test_an_upgraded_ledger_takes_transactions(path: Path):
    ledger = SqliteLedger(str(path))
    head = await append(ledger, Claim(7, b"opens", 3, A_TIME + A_WEEK, opens=0))
    assert head.open_transactions == {7: 5}
    await ledger.close()
    ledger = SqliteLedger(str(path))
    assert (await ledger.head(PARTITION)).open_transactions == {7: 5}
    head = await append(ledger, Claim(7, b"ends", 4, A_TIME + A_WEEK, ends=End.ABORT))
    assert head == Head(7, 0, {}, aborted_to=7)
    assert await ledger.aborted(PARTITION, 0, 99) == [Aborted(6, 7, 5, 7)]
    await ledger.close()


async def test_an_upgraded_ledger_has_the_tables_of_a_new_one(path: Path, tmp_path: Path):
    def tables(path: Path) -> dict[str, list[object]]:
        with closing(sqlite3.connect(path)) as db:
            names = [name for (name,) in db.execute("SELECT name FROM sqlite_master")]
            return {
                name: [
                    db.execute(f"PRAGMA {about}({name})").fetchall()
                    for about in ("table_xinfo", "index_xinfo", "index_list")
                ]
                for name in names
            }

    new = tmp_path / "new.db"
    for one in (path, new):
        await SqliteLedger(str(one)).close()
        await SqliteGroups(str(one)).close()
    assert tables(path) == tables(new)


async def test_an_upgrade_that_was_cut_off_before_the_notes_were_settled_is_finished(path: Path):
    waiting = notes(path).read_bytes()
    notes(path).write_bytes(b"")
    await SqliteLedger(str(path)).close()
    assert format_of(path) == FORMAT
    for _ in range(2):  # the second time, they are settled already
        notes(path).write_bytes(waiting)
        ledger = SqliteLedger(str(path))
        await check(ledger)
        await ledger.close()


async def test_an_upgrade_that_fails_changes_nothing_and_is_made_by_the_next_who_opens_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    waiting = notes(path).read_bytes()
    with monkeypatch.context() as patch:
        cut_off = (*upgrade.TO_FORMAT_2, "INSERT INTO nothing VALUES (1)")
        patch.setattr(upgrade, "TO_FORMAT_2", cut_off)
        with pytest.raises(sqlite3.OperationalError):
            SqliteLedger(str(path))
    assert format_of(path) == 1
    assert notes(path).read_bytes() == waiting
    ledger = SqliteLedger(str(path))
    await check(ledger)
    await ledger.close()


async def test_a_ledger_that_a_process_of_the_older_version_has_open_is_not_upgraded(path: Path):
    """That process could not write to it any more."""
    waiting = notes(path).read_bytes()
    with path.with_name("ledger.db-owner").open("wb") as owner:
        fcntl.flock(owner, fcntl.LOCK_SH)
        with pytest.raises(Misconfigured, match=r"older version of Samsa.* end that process") as e:
            await asyncio.to_thread(SqliteLedger, str(path))
        assert e.value.__traceback__
        assert not path.with_name("ledger.db-wal").exists()  # as long as a connection is open
        with pytest.raises(Misconfigured, match="end that process"):
            await look_on(str(path))
        assert format_of(path) == 1
        assert notes(path).read_bytes() == waiting
    ledger = SqliteLedger(str(path))
    await check(ledger)
    await ledger.close()


async def test_two_who_open_an_older_ledger_share_it(path: Path):
    both = await asyncio.gather(*(asyncio.to_thread(SqliteLedger, str(path)) for _ in range(2)))
    for ledger in both:
        await check(ledger)
    for ledger in both:
        await ledger.close()


async def test_who_only_looks_at_an_older_ledger_upgrades_it(path: Path):
    ledger = await look_on(str(path))
    await check(ledger)
    assert await ledger.aborted(PARTITION, 0, 99) == []
    await ledger.close()
    assert format_of(path) == FORMAT


async def test_a_ledger_of_this_format_that_has_no_place_for_acls_gets_one(tmp_path: Path):
    """Formats before and after are the same: processes that know no ACLs do not look at them."""
    path = str(tmp_path / "ledger.db")
    await SqliteLedger(path).close()
    await SqliteGroups(path).close()
    with closing(sqlite3.connect(path)) as db:
        for table in ("security", "security_version"):
            db.execute(f"DROP TABLE {table}")
        db.commit()
    groups = SqliteGroups(path)
    change = SecurityChange("one", [SecurityEntry(SecurityKind.ACL, "may read")])
    assert await groups.change_security(change, 0)
    assert await groups.security() == (1, list(change.put))
    await groups.close()
    assert format_of(Path(path)) == FORMAT
