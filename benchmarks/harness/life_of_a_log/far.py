"""Reading a log of small appends back through a client, on a store that takes 20 ms to answer."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from uuid import uuid4

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from samsa.broker.broker import Broker
from samsa.local.memory import MemoryObjects
from samsa.local.object_journal import ObjectJournal
from samsa.local.sqlite import SqliteLedger
from samsa.local.wakeups import LocalWakeups
from samsa.log.cache import TailCache
from samsa.log.merge import RoundBudget
from samsa.log.stores import Limits, Stores
from samsa.ports import Buffer, Partition, Piece, Topic
from samsa.runtime.system import SystemClock
from samsa_broker.server.listener import Server, ServerLimits

from .merging import MB, a_batch

LATENCY_S = 0.02
CACHE_BYTES = 256 * 1024 * 1024
SIZE = 1_000


class FarObjects(MemoryObjects):
    """Objects in memory, as far away as S3 is, once `far_away` is set."""

    remote = True

    def __init__(self) -> None:
        super().__init__()
        self.far_away = False

    async def _wait(self) -> None:
        if self.far_away:
            await asyncio.sleep(LATENCY_S)

    async def put_if_absent(self, key: str, parts: Sequence[Buffer]) -> bool:
        await self._wait()
        return await super().put_if_absent(key, parts)

    async def put_stream(self, key: str, parts: AsyncIterator[Buffer]) -> None:
        await self._wait()
        await super().put_stream(key, parts)

    async def get(self, key: str, start: int = 0, length: int | None = None) -> Buffer:
        await self._wait()
        return await super().get(key, start, length)

    async def piece(self, key: str, start: int, length: int) -> Piece:
        await self._wait()
        return await super().piece(key, start, length)


def read_back(appends: int, most_s: float) -> tuple[float, float]:
    """MB/s through a client, before a merge and after it."""
    return asyncio.run(_read_back(appends, most_s))


async def _read_back(appends: int, most_s: float) -> tuple[float, float]:
    ledger, objects, numbers = SqliteLedger(":memory:"), FarObjects(), itertools.count()
    topic = Topic("small", uuid4(), 1, 0, {"retention.ms": "-1"})
    await ledger.create_topic(topic)

    def nonce() -> str:
        return f"n{next(numbers)}"

    def a_broker() -> Broker:
        """A fresh one: what it has read is not in its memory."""
        cached = TailCache(objects, CACHE_BYTES)
        stores = Stores(
            ledger,
            cached,
            ObjectJournal(ledger, cached, nonce),
            SystemClock(),
            LocalWakeups(),
            nonce,
            Limits(merge_after_ms=0),
        )
        return Broker(stores, "bench")

    partition, writer = Partition(topic.id, 0), a_broker()
    for _ in range(appends):
        await writer.log.append_once(partition, [a_batch(SIZE)])
    objects.far_away = True
    before = await _speed(a_broker(), appends, most_s)
    while not (await writer.log.merger.merge(partition, RoundBudget(10**12, 10**6))).finished:
        pass
    return before, await _speed(a_broker(), appends, most_s)


async def _speed(broker: Broker, appends: int, most_s: float) -> float:
    server = Server(broker, ServerLimits())
    host, port = server.listen("127.0.0.1", 0)
    # In a process of its own: two threads of one would wait for the interpreter, not for bytes.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        loop = asyncio.get_running_loop()
        speed = await loop.run_in_executor(pool, _consume, f"{host}:{port}", appends, most_s)
    await server.close()
    return speed


def _consume(bootstrap: str, appends: int, most_s: float) -> float:
    """From the first messages on: what a client needs to find its broker is another matter."""
    settings = {"bootstrap.servers": bootstrap, "group.id": "none", "log_level": 0}
    consumer = Consumer({**settings, "fetch.queue.backoff.ms": 1})
    consumer.assign([TopicPartition("small", 0, OFFSET_BEGINNING)])
    first = 0
    while not first:
        first = len(consumer.consume(1, 1))
    started, count = time.perf_counter(), 0
    while count + first < appends and time.perf_counter() - started < most_s:
        count += len(consumer.consume(min(1_000, appends - first - count), 0.01))
    seconds = time.perf_counter() - started
    consumer.close()
    return count * SIZE / MB / seconds
