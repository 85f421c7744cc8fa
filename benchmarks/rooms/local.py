"""The local stores and the log on them: SQLite and a folder, as `samsa up` opens them."""

import itertools
import secrets
from collections.abc import Callable, Coroutine, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from samsa.local.folder import FolderObjects
from samsa.local.sqlite import SqliteLedger
from samsa.local.wakeups import LocalWakeups
from samsa.log.append import Batch
from samsa.log.core import Log
from samsa.log.stores import Stores
from samsa.ports import CommitResult, Extent, Partition, Topic
from samsa.ports.heads import object_key
from samsa.records.batch import read_header
from samsa.runtime.store_urls import open_journal
from samsa.runtime.system import SystemClock

from .frames import KB, LARGE, MB, NAMES, SMALL, batch
from .timing import Case

TOPICS = ("plain", "idempotent", "committed", "small", "large")
MOST_BYTES = 100 * MB
"""Written by one round, at most."""


def open_stores(folder: Path) -> Stores:
    ledger, objects = SqliteLedger(f"{folder}/ledger.db"), FolderObjects(f"{folder}/objects")
    journal = open_journal(ledger, objects, nonce, fsync=False)
    return Stores(ledger, objects, journal, SystemClock(), LocalWakeups(), nonce)


def nonce() -> str:
    return secrets.token_hex(8)


async def create(stores: Stores, number: int, name: str) -> Partition:
    topic = Topic(name, UUID(int=number), 1, stores.clock.now_ms())
    await stores.ledger.create_topic(topic)
    return Partition(topic.id, 0)


async def cases(stores: Stores) -> list[Case]:
    log = Log(stores)
    named = {name: await create(stores, n, name) for n, name in enumerate(TOPICS, 100)}
    await _fill(log, named["small"], SMALL, 64)
    await _fill(log, named["large"], LARGE, 4)
    return [
        *_ledger(stores, named["committed"]),
        *_objects(stores, named["plain"]),
        *_appends(log, named["plain"], named["idempotent"]),
        *await _reads(log, named["small"], "appends of 16 KB"),
        *await _reads(log, named["large"], "appends of 1 MB"),
    ]


async def _fill(log: Log, partition: Partition, size: int, count: int) -> None:
    data = batch(size)
    for _ in range(count):
        await log.append_once(partition, [Batch(read_header(data), data)])


def _ledger(stores: Stores, partition: Partition) -> Iterator[Case]:
    ledger, numbers = stores.ledger, itertools.count()
    assert isinstance(ledger, SqliteLedger)

    def commit() -> Coroutine[Any, Any, CommitResult]:
        number = next(numbers)
        key = object_key(partition, f"c{number}")
        return ledger.commit(partition, Extent(number, 1, 100, 0, 0, key), key, 0, ())

    yield Case("ledger", "commit", commit)
    yield Case("ledger", "head", partial(ledger.head, partition))


def _objects(stores: Stores, partition: Partition) -> Iterator[Case]:
    numbers = itertools.count()
    for size in (SMALL, LARGE):
        data = batch(size)

        def put(data: memoryview = data) -> Coroutine[Any, Any, bool]:
            key = object_key(partition, f"o{next(numbers)}")
            return stores.objects.put_if_absent(key, [data])

        yield Case("objects", f"put, {NAMES[size]}", put, len(data), MOST_BYTES // size)


def _appends(log: Log, plain: Partition, idempotent: Partition) -> Iterator[Case]:
    for size in (SMALL, LARGE):
        data = batch(size)
        group = [Batch(read_header(data), data)]
        append = partial(log.append_once, plain, group)
        yield Case("log", f"append, {NAMES[size]}", append, len(data), MOST_BYTES // size)
    data = batch(SMALL, producer_id=7)
    what = f"append, {NAMES[SMALL]}, idempotent"
    yield Case("log", what, _in_sequence(log, idempotent, data), len(data), MOST_BYTES // SMALL)


def _in_sequence(
    log: Log, partition: Partition, data: memoryview
) -> Callable[[], Coroutine[Any, Any, Sequence[Any]]]:
    """The log goes by the header that it is handed, so the checksum need not be made anew."""
    header = read_header(data)
    sequences = itertools.count(0, header.offsets)

    def append() -> Coroutine[Any, Any, Sequence[Any]]:
        numbered = header._replace(base_sequence=next(sequences))
        return log.append_once(partition, [Batch(numbered, data)])

    return append


async def _reads(log: Log, partition: Partition, what: str) -> list[Case]:
    plan = await log.plan(partition, 0, 1024 * KB)
    return [
        Case("log", f"plan of 1 MB, {what}", partial(log.plan, partition, 0, 1024 * KB)),
        Case("log", f"open the pieces of 1 MB, {what}", partial(log.load, plan.ranges)),
    ]
