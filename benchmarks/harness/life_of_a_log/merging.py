"""How fast a merge is: by copying what lies apart, and without a copy where nothing has to move."""

import asyncio
import itertools
import time
from pathlib import Path
from uuid import uuid4

from samsa.local.folder import FolderObjects
from samsa.local.journal import SqliteJournal
from samsa.local.object_journal import ObjectJournal
from samsa.local.sqlite import SqliteLedger
from samsa.local.wakeups import LocalWakeups
from samsa.log.core import Log
from samsa.log.layout import Batch
from samsa.log.merge import RoundBudget
from samsa.log.stores import Limits, Stores
from samsa.ports import Partition, Topic
from samsa.records import Record, build, read_header
from samsa.runtime.system import SystemClock

MB = 1_000_000


def a_batch(size: int) -> Batch:
    data = bytearray(build([Record(0, 1_700_000_000_000, None, b"x" * (size - 80))]))
    return Batch(read_header(data), memoryview(data))


def merge_speed(folder: Path, append_bytes: int, appends: int, packed: bool) -> float:
    """MB in a second of one core."""
    return asyncio.run(_merge_speed(folder, append_bytes, appends, packed))


async def _merge_speed(folder: Path, append_bytes: int, appends: int, packed: bool) -> float:
    ledger = SqliteLedger(str(folder / "ledger.db"))
    objects = FolderObjects(str(folder / "objects"))
    numbers = itertools.count()

    def nonce() -> str:
        return f"n{next(numbers)}"

    journal = (
        SqliteJournal(ledger, objects.root, "bench")
        if packed
        else ObjectJournal(ledger, objects, nonce)
    )
    limits = Limits(merge_after_ms=0)
    stores = Stores(ledger, objects, journal, SystemClock(), LocalWakeups(), nonce, limits)
    topic = Topic("merged", uuid4(), 1, 0)
    await ledger.create_topic(topic)
    partition, log = Partition(topic.id, 0), Log(stores)
    for _ in range(appends):
        await log.append_once(partition, [a_batch(append_bytes)])
    started = time.process_time()
    merged = await log.merger.merge(partition, RoundBudget(10**12, 10**6))
    seconds = time.process_time() - started
    assert merged.runs, "there was nothing to merge"
    await journal.close()
    await objects.close()
    await ledger.close()
    return append_bytes * appends / MB / seconds
