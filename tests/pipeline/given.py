"""A log to be read: topics that a test fills through the library, on any pair of stores."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID, uuid4

from samsa.local.object_journal import ObjectJournal
from samsa.local.sqlite import SqliteLedger
from samsa.local.wakeups import LocalWakeups
from samsa.log.core import Log
from samsa.log.extents import run_from
from samsa.log.layout import Batch
from samsa.log.stores import Stores
from samsa.ports import Extent, Journal, Ledger, Objects, Partition, Topic
from samsa.records import Record, build, read_header
from samsa.records.batch import compacted_filler
from samsa.runtime.store_urls import open_journal, open_ledger, open_objects
from samsa.runtime.system import SystemClock, fresh_words

T = TypeVar("T")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LOG_APPEND_TIME = 0x08
TOPIC_IDS: dict[str, UUID] = {}
"""Of the topics that tests have made."""


@dataclass(frozen=True)
class Opened:
    stores: Stores
    log: Log


@dataclass(frozen=True)
class Given:
    """Where the log is, and what a test does to it while nobody serves it."""

    ledger: str
    objects: str
    has_packs: bool = True
    """Whether a ledger on this machine keeps appends in packs; else each is an object, as where the
    objects are far."""

    @property
    def options(self) -> dict[str, str]:
        return {"ledger": self.ledger, "objects": self.objects}

    def do(self, work: Callable[[Opened], Awaitable[T]]) -> T:
        return asyncio.run(self._do(work))

    async def _do(self, work: Callable[[Opened], Awaitable[T]]) -> T:
        async with self.opened() as opened:
            return await work(opened)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Opened]:
        """As a process of its own opens it."""
        words = fresh_words()
        ledger = await open_ledger(self.ledger, fsync=False)
        objects = open_objects(self.objects, fsync=False, cache_bytes=0)
        journal = self.journal(ledger, objects, words)
        stores = Stores(ledger, objects, journal, SystemClock(), LocalWakeups(), words)
        log = Log(stores)
        try:
            yield Opened(stores, log)
        finally:
            await log.drain()
            for store in (journal, objects, ledger):
                await store.close()

    def journal(self, ledger: Ledger, objects: Objects, words: Callable[[], str]) -> Journal:
        if self.has_packs:
            return open_journal(ledger, objects, words, fsync=False)
        assert isinstance(ledger, SqliteLedger)
        return ObjectJournal(ledger, objects, words)

    def topic(self, partitions: int = 1, name: str | None = None) -> str:
        """A fresh topic's name."""
        name = name or f"t-{uuid4().hex[:12]}"
        topic = Topic(name, uuid4(), partitions, 1_700_000_000_000)

        async def create(opened: Opened) -> bool:
            return await opened.stores.ledger.create_topic(topic)

        assert self.do(create)
        TOPIC_IDS[name] = topic.id
        return name

    def grow(self, name: str, partitions: int) -> None:
        async def change(opened: Opened) -> bool:
            old = await found(opened, name)
            new = Topic(old.name, old.id, partitions, old.created_at, old.configs)
            return await opened.stores.ledger.change_topic(old, new)

        assert self.do(change)

    def delete(self, name: str) -> None:
        async def delete(opened: Opened) -> None:
            topic = await found(opened, name)
            assert await opened.stores.ledger.delete_topic(topic)
            await opened.stores.journal.bury(topic.id)
            await opened.stores.ledger.forget_topic(topic)

        self.do(delete)

    def append(self, name: str, number: int, *batches: bytes) -> int:
        """One commit of these batches; the offset of the first."""

        async def append(opened: Opened) -> int:
            return await commit(opened, await partition_of(opened, name, number), *batches)

        return self.do(append)

    def fill(self, contents: dict[tuple[str, int], Sequence[bytes]]) -> None:
        """Each batch a commit of its own, all by one process."""

        async def fill(opened: Opened) -> None:
            ids = {topic.name: topic.id for topic in await opened.stores.ledger.topics()}
            for (name, number), batches in contents.items():
                for data in batches:
                    await commit(opened, Partition(ids[name], number), data)

        self.do(fill)

    def fill_together(self, name: str, commits: Sequence[Sequence[bytes]]) -> None:
        """One process commits to each partition at the same time."""

        async def fill(opened: Opened) -> None:
            topic = await found(opened, name)
            await asyncio.gather(
                *(
                    commit(opened, Partition(topic.id, number), *batches)
                    for number, batches in enumerate(commits)
                )
            )

        self.do(fill)

    def fill_by_two(self, name: str, number: int, commits: Sequence[Sequence[bytes]]) -> None:
        """Two processes commit in turn. From its second commit on, each has guessed the offsets as
        if it were alone."""

        async def fill() -> None:
            async with self.opened() as one, self.opened() as other:
                partition = await partition_of(one, name, number)
                for process, batches in zip(itertools.cycle((one, other)), commits, strict=False):
                    await commit(process, partition, *batches)

        asyncio.run(fill())

    def compacted(self, name: str, number: int, offsets: int) -> None:
        """Offsets whose records were compacted away."""
        self.append(name, number, compacted_filler(0, offsets))

    def tail(self, name: str, number: int) -> list[Extent]:
        """What is in the head."""

        async def tail(opened: Opened) -> list[Extent]:
            partition = await partition_of(opened, name, number)
            return list((await opened.stores.ledger.head(partition)).tail)

        return self.do(tail)

    def extents(self, name: str, number: int) -> list[Extent]:
        """All that there is, whether in the head or in the index."""

        async def extents(opened: Opened) -> list[Extent]:
            partition = await partition_of(opened, name, number)
            head = await opened.stores.ledger.head(partition)
            indexed = await opened.stores.ledger.extents(partition, 0, 10_000)
            return run_from([*indexed, *head.tail], 0, head.next_offset)

        return self.do(extents)

    def settle(self, name: str, number: int) -> None:
        """Move what is in the head to the index."""

        async def settle(opened: Opened) -> None:
            await opened.stores.journal.settle(await partition_of(opened, name, number))

        self.do(settle)

    def trim(self, name: str, number: int, offset: int) -> None:
        """As DeleteRecords does, and what follows from it."""

        async def trim(opened: Opened) -> None:
            partition = await partition_of(opened, name, number)
            await opened.stores.ledger.advance_start(partition, offset)
            await opened.stores.ledger.drop_extents(partition, offset)

        self.do(trim)


async def found(opened: Opened, name: str) -> Topic:
    topic = await opened.stores.ledger.topic(name)
    assert topic is not None
    return topic


async def partition_of(opened: Opened, name: str, number: int) -> Partition:
    return Partition((await found(opened, name)).id, number)


async def commit(opened: Opened, partition: Partition, *batches: bytes) -> int:
    """The offset of the first."""
    ours = [Batch(read_header(data), memoryview(bytearray(data))) for data in batches]
    outcomes = await opened.log.append_once(partition, ours)
    assert all(outcome.refusal is None for outcome in outcomes)
    return outcomes[0].offset


def records(*values: bytes | None, at: int = 1_000, first: int = 0) -> list[Record]:
    return [
        Record(number, at + number, b"k%d" % number, value)
        for number, value in enumerate(values, first)
    ]


def a_batch(*values: bytes, at: int = 1_000, **how: Any) -> bytes:
    return build(records(*values, at=at), **how)


def moment(ms: int) -> datetime:
    """As Spark's Python shows a timestamp when both are in UTC."""
    return EPOCH + timedelta(milliseconds=ms)


def row_values(rows: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Rows as plain tuples, in the order of topic, partition and offset."""
    return sorted(
        (
            row.topic,
            row.partition,
            row.offset,
            None if row.key is None else bytes(row.key),
            None if row.value is None else bytes(row.value),
        )
        for row in rows
    )
