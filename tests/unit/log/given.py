"""A log over stores in memory, a clock that is set by hand, and batches to append."""

from dataclasses import dataclass, field, replace
from itertools import count
from unittest.mock import AsyncMock, patch
from uuid import UUID

from samsa.local.memory import MemoryObjects
from samsa.local.object_journal import ObjectJournal
from samsa.local.sqlite import SqliteLedger
from samsa.local.wakeups import LocalWakeups
from samsa.log.admit import Outcome
from samsa.log.core import Log
from samsa.log.layout import Batch
from samsa.log.stores import Limits, Stores
from samsa.ports import Extent, Partition, Topic
from samsa.records import BatchHeader, Record, build, read_header, records

PARTITION = Partition(UUID(int=1), 0)


@dataclass
class HandClock:
    now: int = 1_000_000

    def now_ms(self) -> int:
        return self.now


@dataclass
class Given:
    """One process on its stores; `another` is a second one on the same."""

    ledger: SqliteLedger
    objects: MemoryObjects
    limits: Limits
    clock: HandClock = field(default_factory=HandClock)
    nonces: "count[int]" = field(default_factory=count)

    def __post_init__(self) -> None:
        self.journal = self.a_journal()
        self.stores = Stores(
            ledger=self.ledger,
            objects=self.objects,
            journal=self.journal,
            clock=self.clock,
            wakeups=LocalWakeups(),
            nonce=self.nonce,
            limits=self.limits,
        )
        self.log = Log(self.stores)

    def a_journal(self) -> ObjectJournal:
        return ObjectJournal(self.ledger, self.objects, self.nonce)

    def nonce(self) -> str:
        return f"n{next(self.nonces)}"

    def another(self) -> "Given":
        return replace(self)

    async def append(self, *batches: Batch, guess: int | None = None) -> list[Outcome]:
        """In one commit; with the offset that a process guesses which was not told of the last."""
        if guess is None:
            return await self.log.append_once(PARTITION, batches)
        with patch.object(self.journal, "next_offset", AsyncMock(return_value=guess)):
            return await self.log.append_once(PARTITION, batches)

    async def index(self) -> list[Extent]:
        return await self.ledger.extents(PARTITION, 0, 10_000)

    async def keys(self) -> list[str]:
        """Of the objects of all logs."""
        return [key async for key in self.objects.list("log/")]

    async def values(self, offset: int = 0) -> list[bytes | None]:
        """Every value from an offset on, as a reader gets them."""
        found: list[bytes | None] = []
        while (plan := await self.log.plan(PARTITION, offset, 1_000_000)).ranges:
            for piece in await self.log.load(plan.ranges):
                found += values_in(bytes(piece))
            offset = plan.ranges[-1].end_offset
        return found


async def a_log(**limits: int) -> Given:
    ledger = SqliteLedger(":memory:")
    await ledger.create_topic(Topic("letters", PARTITION.topic_id, 1, 0))
    return Given(ledger, MemoryObjects(), Limits(**limits))


def a_batch(*values: bytes, **producer: int) -> Batch:
    made = [Record(n, 1_000 + n, None, value) for n, value in enumerate(values or (b"v",))]
    data = bytearray(build(made, **producer))
    return Batch(read_header(data), memoryview(data))


def sequenced(first: int, records: int = 1, epoch: int = 0, producer_id: int = 7) -> Batch:
    values = [b"%d" % ((first + n) % 2**31) for n in range(records)]
    producer = {"producer_id": producer_id, "producer_epoch": epoch, "base_sequence": first}
    return a_batch(*values, **producer)


def a_header(first: int, records: int = 1, epoch: int = 0) -> BatchHeader:
    return sequenced(first, records, epoch).header


def values_in(data: bytes) -> list[bytes | None]:
    found: list[bytes | None] = []
    position = 0
    while position < len(data):
        found += [record.value for record in records(data, position)]
        position += read_header(data, position).size
    return found
