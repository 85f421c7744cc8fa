"""A ledger file from before segments is opened, and gets the column that it lacks."""

import sqlite3
from pathlib import Path
from uuid import UUID

from samsa.local.sqlite import SqliteLedger
from samsa.ports import Extent, Partition, Topic

PARTITION = Partition(UUID(int=1), 0)
SEGMENT = Extent(0, 9, 100, 7, 8, "log/a", ((3, 40),), 9, 0, (5,))


async def test_an_older_ledger_keeps_its_extents_and_takes_segments(tmp_path: Path):
    path = str(tmp_path / "ledger.db")
    ledger = SqliteLedger(path)
    await ledger.create_topic(Topic("t", PARTITION.topic_id, 1, 0))
    await ledger.index(PARTITION, SEGMENT)
    await ledger.close()
    db = sqlite3.connect(path)
    db.execute("ALTER TABLE extents DROP COLUMN times")
    db.commit()
    db.close()
    ledger = SqliteLedger(path)
    later = SEGMENT._replace(base=9, key="log/b")
    await ledger.index(PARTITION, later)
    assert await ledger.extents(PARTITION, 0, 9) == [SEGMENT._replace(times=()), later]
    await ledger.close()
