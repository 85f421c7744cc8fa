"""How fast compaction is: random updates to some thousands of keys, cleaned in one round."""

import asyncio
import itertools
import random
import time
from pathlib import Path
from uuid import uuid4

from samsa.local.folder import FolderObjects
from samsa.local.journal import SqliteJournal
from samsa.local.sqlite import SqliteLedger
from samsa.local.wakeups import LocalWakeups
from samsa.log.compact_plan import Compaction
from samsa.log.core import Log
from samsa.log.layout import Batch
from samsa.log.stores import Stores
from samsa.ports import Partition, Topic
from samsa.records import Record, build, read_header
from samsa.runtime.system import SystemClock

MB = 1_000_000
KEYS = 20_000
BATCH_BYTES = 256 * 1024
BEGAN = 1_700_000_000_000


def compaction_speed(folder: Path, record_bytes: int, megabytes: int) -> float:
    """MB of log in a second of one core."""
    return asyncio.run(_compaction_speed(folder, record_bytes, megabytes))


async def _compaction_speed(folder: Path, record_bytes: int, megabytes: int) -> float:
    ledger = SqliteLedger(str(folder / "ledger.db"))
    objects = FolderObjects(str(folder / "objects"))
    journal = SqliteJournal(ledger, objects.root, "bench")
    numbers = itertools.count()
    stores = Stores(
        ledger,
        objects,
        journal,
        SystemClock(),
        LocalWakeups(),
        lambda: f"n{next(numbers)}",
    )
    topic = Topic("compacted", uuid4(), 1, 0)
    await ledger.create_topic(topic)
    partition, log, rng = Partition(topic.id, 0), Log(stores), random.Random(7)
    size = 0
    while size < megabytes * MB:
        batch = _updates(rng, record_bytes)
        size += len(batch.data)
        await log.append_once(partition, [batch])
    started = time.process_time()
    done = await log.compactor.compact(partition, Compaction(dirty_ratio=0, active_ms=-1))
    seconds = time.process_time() - started
    assert done is not None, "there was nothing to compact"
    assert done.finished
    assert done.after < done.before
    await journal.close()
    await objects.close()
    await ledger.close()
    return size / MB / seconds


def _updates(rng: random.Random, record_bytes: int) -> Batch:
    made = [
        Record(n, BEGAN + n, b"key-%08d" % rng.randrange(KEYS), rng.randbytes(record_bytes - 20))
        for n in range(BATCH_BYTES // record_bytes)
    ]
    data = bytearray(build(made))
    return Batch(read_header(data), memoryview(data))
