"""Helpers for tests of the sink: rows to stage, stores that die, and what is in a topic."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pipeline.given import Given, Opened

from pyspark_samsa import DefaultSource
from pyspark_samsa.sink.commit import Committing
from pyspark_samsa.sink.options import read_sink_options
from pyspark_samsa.sink.staged import Staged
from pyspark_samsa.sink.turns import Turn
from pyspark_samsa.sink.writer import stage
from samsa.aws.journal import HeadJournal
from samsa.local.object_journal import ObjectJournal
from samsa.log.core import Log
from samsa.log.stores import Stores

COLUMNS = ("value", "key", "partition")


class Died(Exception):
    """The process has, at this call."""


class Dying:
    """A store that performs so many calls, and then one more or not, and then none."""

    def __init__(self, store: Any, life: "Life") -> None:
        self._store = store
        self._life = life

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if name == "list":
            return lambda *args: self._list(found, *args)
        if not asyncio.iscoroutinefunction(found):
            return found

        async def call(*args: Any, **kw: Any) -> Any:
            await self._life.before_call()
            answer = await found(*args, **kw)
            self._life.after_call()
            return answer

        return call

    async def _list(self, found: Callable[..., Any], *args: Any) -> Any:
        await self._life.before_call()
        async for each in found(*args):
            yield each


class Life:
    def __init__(self, calls: int, with_last: bool = False, seed: int | None = None) -> None:
        self.left = calls
        self._with_last = with_last
        self._chance = None if seed is None else random.Random(seed)

    async def before_call(self) -> None:
        if self._chance is not None:
            for _ in range(self._chance.randrange(4)):
                await asyncio.sleep(0)
        self.left -= 1
        if self.left < 0 or (self.left == 0 and not self._with_last):
            raise Died

    def after_call(self) -> None:
        if self.left <= 0:
            raise Died


LONG = 1_000_000
PADDING = b"." * 290


def dying(opened: Opened, life: Life) -> Stores:
    """The same stores for a process of its own."""
    ours = opened.stores
    ledger, objects = Dying(ours.ledger, life), Dying(ours.objects, life)
    journal: Any
    if isinstance(ours.journal, HeadJournal):
        journal = HeadJournal(ledger, objects, ours.nonce, ours.clock)
    elif isinstance(ours.journal, ObjectJournal):
        journal = ObjectJournal(ledger, objects, ours.nonce)
    else:
        journal = Dying(ours.journal, life)  # a commit is one step of one process
    return replace(ours, ledger=ledger, objects=objects, journal=journal)


async def commit_by(opened: Opened, turn: Turn, message: Staged, life: Life) -> None:
    """As a driver does it that lives so long."""
    stores = dying(opened, life)
    log = Log(stores)
    await Committing(stores, log, turn).commit_once(message.pieces)
    await log.drain()


def staged(log: Given, turn: Turn, topic: str, *batches: list[dict[str, Any]]) -> Staged:
    """As if each list were a task's Arrow batch."""
    options = read_sink_options({**log.options, "topic": topic}, streaming=True)
    schema = pa.schema(
        [
            pa.field("value", pa.binary()),
            pa.field("key", pa.binary()),
            pa.field("partition", pa.int32()),
        ]
    )
    arrow = [pa.RecordBatch.from_pylist(rows, schema=schema) for rows in batches]
    return stage(options, COLUMNS, turn, iter(arrow))


def rows(
    mark: str, count: int, place: Callable[[int], int | None] = lambda n: None
) -> list[dict[str, Any]]:
    """Row n has the value `n mark …`, so that it can be told who wrote it."""
    return [
        {
            "value": b"%d %s %s" % (n, mark.encode(), PADDING),
            "key": b"%d" % n,
            "partition": place(n),
        }
        for n in range(count)
    ]


def commit(log: Given, turn: Turn, message: Staged) -> None:
    async def work(opened: Opened) -> None:
        await commit_by(opened, turn, message, Life(LONG))

    log.do(work)


def attempt(log: Given, work: Callable[[Opened], Awaitable[None]]) -> bool:
    """Whether the process lived through it."""
    try:
        log.do(work)
    except Died:
        return False
    return True


def content(log: Given, topic: str) -> list[tuple[int, bytes]]:
    """Partition and value of every record, in order."""
    source = DefaultSource({**log.options, "subscribe": topic})
    reader = source.reader(source.schema())
    return list(_values(reader.read(split) for split in reader.partitions()))


def _values(tables: Iterable[Iterator[pa.RecordBatch]]) -> Iterator[tuple[int, bytes]]:
    for table in tables:
        for batch in table:
            yield from zip(
                batch.column("partition").to_pylist(),
                batch.column("value").to_pylist(),
                strict=True,
            )


def left_over(log: Given) -> list[str]:
    """The keys of what the sink keeps beside the log."""

    async def look(opened: Opened) -> list[str]:
        found = [key async for key in opened.stores.objects.list("sink/")]
        return found + [key async for key in opened.stores.objects.list("spill/")]

    return log.do(look)
