"""A log to be read: topics that a test fills through the library, on any pair of stores."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import uuid4

from samsa.local.wakeups import LocalWakeups
from samsa.log.core import Log
from samsa.log.layout import Batch
from samsa.log.stores import Limits, Stores
from samsa.ports import Partition, Topic
from samsa.records import Record, build, read_header
from samsa.server.urls import open_journal, open_ledger, open_objects
from samsa.system import SystemClock

T = TypeVar("T")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LOG_APPEND_TIME = 0x08


@dataclass(frozen=True)
class Opened:
    stores: Stores
    log: Log


@dataclass(frozen=True)
class Given:
    """Where the log is, and what a test does to it while nobody serves it."""

    ledger: str
    objects: str
    at_once: bool = True
    """Whether ledger and objects on one machine are taken for one."""

    @property
    def options(self) -> dict[str, str]:
        return {"ledger": self.ledger, "objects": self.objects}

    def do(self, work: Callable[[Opened], Awaitable[T]]) -> T:
        return asyncio.run(self._do(work))

    async def _do(self, work: Callable[[Opened], Awaitable[T]]) -> T:
        numbers = itertools.count()
        process = uuid4().hex[:12]
        ledger = await open_ledger(self.ledger, fsync=False)
        objects = open_objects(self.objects, fsync=False, cache_bytes=0)
        journal = open_journal(ledger, objects, process, fsync=False) if self.at_once else None
        stores = Stores(
            ledger,
            objects,
            SystemClock(),
            LocalWakeups(),
            lambda: f"{process}{next(numbers)}",
            Limits(fence_after_ms=0),
            journal,
        )
        log = Log(stores)
        try:
            return await work(Opened(stores, log))
        finally:
            await log.drain()
            for store in (journal, objects, ledger):
                if store is not None:
                    await store.close()

    def topic(self, partitions: int = 1, name: str | None = None) -> str:
        """A fresh topic's name."""
        name = name or f"t-{uuid4().hex[:12]}"
        topic = Topic(name, uuid4(), partitions, 1_700_000_000_000)

        async def create(opened: Opened) -> bool:
            return await opened.stores.ledger.create_topic(topic)

        assert self.do(create)
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
            if opened.stores.journal is not None:
                await opened.stores.journal.bury(topic.id)
            await opened.stores.ledger.forget_topic(topic)

        self.do(delete)

    def append(self, name: str, number: int, *batches: bytes) -> int:
        """One slot with these batches; the offset of the first."""

        async def append(opened: Opened) -> int:
            partition = Partition((await found(opened, name)).id, number)
            ours = [Batch(read_header(data), memoryview(bytearray(data))) for data in batches]
            outcomes = await opened.log.append_once(partition, ours)
            assert all(outcome.refusal is None for outcome in outcomes)
            return outcomes[0].offset

        return self.do(append)

    def fill(self, contents: dict[tuple[str, int], Sequence[bytes]]) -> None:
        """Each batch a slot of its own, all in one go."""

        async def fill(opened: Opened) -> None:
            ids = {topic.name: topic.id for topic in await opened.stores.ledger.topics()}
            for (name, number), batches in contents.items():
                for data in batches:
                    ours = Batch(read_header(data), memoryview(bytearray(data)))
                    await opened.log.append_once(Partition(ids[name], number), [ours])

        self.do(fill)

    def fence(self, name: str, number: int, offsets: int) -> None:
        """A slot whose writer died, and that was closed with nothing in it."""

        async def fence(opened: Opened) -> None:
            partition = Partition((await found(opened, name)).id, number)
            from samsa.log.tokens import Token

            token = str(Token(offsets, 0, "dead"))
            await opened.stores.ledger.reserve(partition, token, offsets)
            await opened.log.fencer.fence_all(partition, await opened.stores.ledger.head(partition))

        self.do(fence)

    def trim(self, name: str, number: int, offset: int) -> None:
        """As DeleteRecords does, and what follows from it."""

        async def trim(opened: Opened) -> None:
            partition = Partition((await found(opened, name)).id, number)
            await opened.stores.ledger.advance_start(partition, offset)
            await opened.stores.ledger.drop_extents(partition, offset)

        self.do(trim)


async def found(opened: Opened, name: str) -> Topic:
    topic = await opened.stores.ledger.topic(name)
    assert topic is not None
    return topic


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
