"""Processes that coordinate transactions on the same stores, in memory."""

from dataclasses import dataclass
from typing import Any

from unit.log.given import PARTITION, Given, a_batch, a_log
from unit.log.transacting import transactional

from samsa.broker.broker import Broker, Context, Later
from samsa.handlers.k00_produce import produce
from samsa.local.sqlite_groups import SqliteGroups
from samsa.log.layout import Batch
from samsa.ports import Unavailable
from samsa.transactions import AddPartitions, Answer, EndTransaction, Init
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.produce import PARTITION as ROW
from samsa.wire.messages.produce import REQUEST as PRODUCE
from samsa.wire.messages.produce import TOPIC

ID = "orders"
ADDRESS = ("127.0.0.1", 9092)
TIMEOUT_MS = 10_000


class Flaky:
    """A store that fails at the calls that are named."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.down: set[str] = set()
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not callable(found) or name.startswith("is_current"):
            return found

        async def call(*args: Any) -> Any:
            self.calls.append(name)
            if name in self.down:
                raise Unavailable(name)
            return await found(*args)

        return call


@dataclass
class Process:
    given: Given
    store: Flaky
    broker: Broker

    async def ask(self, request: Any, fresh: bool = False) -> Answer:
        return await self.broker.transactions.ask(ID, request, fresh)

    async def init(self) -> Answer:
        return await self.ask(Init(TIMEOUT_MS))

    async def add(self, producer: Answer) -> Answer:
        wanted = AddPartitions(producer.producer_id, producer.epoch, frozenset({PARTITION}))
        return await self.ask(wanted)

    async def end(self, producer: Answer, commit: bool = True, bumps: bool = True) -> Answer:
        return await self.ask(EndTransaction(producer.producer_id, producer.epoch, commit, bumps))

    async def produce(
        self, producer: Answer, first: int, version: int = 12, **others: Any
    ) -> ErrorCode:
        batch = transactional(
            first, epoch=producer.epoch, producer_id=producer.producer_id, **others
        )
        return await self.send(batch, version)

    async def send(
        self, batch: Batch, version: int = 12, transactional_id: str | None = ID
    ) -> ErrorCode:
        rows = [ROW(index=0, records=memoryview(bytearray(batch.data)))]
        names = {"topic_id": PARTITION.topic_id} if version > 12 else {"name": "letters"}
        request = PRODUCE(
            transactional_id=transactional_id,
            acks=-1,
            timeout_ms=1_000,
            topic_data=[TOPIC(partition_data=rows, **names)],
        )
        later: Later = await produce(request, Context(version, "client", ADDRESS), self.broker)
        row: Any = await later.ended()
        return ErrorCode(row.responses[0].partition_responses[0].error_code)

    async def outside(self, producer: Answer, first: int) -> ErrorCode:
        """An idempotent batch of the producer that is not transactional."""
        named = {"producer_id": producer.producer_id, "producer_epoch": producer.epoch}
        batch = a_batch(b"%d" % first, base_sequence=first, **named)
        return await self.send(batch, transactional_id=None)

    async def plain(self, value: bytes) -> ErrorCode:
        return await self.send(a_batch(value), transactional_id=None)


async def processes(count: int = 2, works_after_answers: bool = False) -> list[Process]:
    given = await a_log(attempts=3, backoff_ms=0)
    groups = SqliteGroups(":memory:")
    found = []
    for _ in range(count):
        each, store = given.another(), Flaky(groups)
        broker = Broker(
            each.stores, "cluster", groups=store, works_after_answers=works_after_answers
        )
        found.append(Process(each, store, broker))
    return found
