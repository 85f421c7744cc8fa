"""One process with its log on a DynamoDB ledger; objects in memory."""

from dataclasses import dataclass
from typing import Any

from functional.journals import SetClock, words

from samsa.aws.journal import HeadJournal
from samsa.local.memory import MemoryObjects
from samsa.local.wakeups import LocalWakeups
from samsa.log.core import Log
from samsa.log.layout import Batch
from samsa.log.merge import RoundBudget
from samsa.log.stores import Limits, Stores
from samsa.ports import Extent, Partition
from samsa.ports.windows import WINDOWS
from samsa.records import Record, build, read_header, records

LARGE = 6_000
PLENTY = 10**9


@dataclass
class Process:
    ledger: Any
    objects: MemoryObjects
    clock: SetClock

    def __post_init__(self) -> None:
        nonce = words()
        journal = HeadJournal(self.ledger, self.objects, nonce, self.clock)
        limits = Limits(backoff_ms=1, merge_after_ms=0, sweep_grace_ms=0)
        self.journal = journal
        self.log = Log(
            Stores(self.ledger, self.objects, journal, self.clock, LocalWakeups(), nonce, limits)
        )

    async def append(self, *partitions: Partition) -> list[int]:
        """A large batch to each at the same time."""
        appends = [self.log.append(partition, a_batch(partition)) for partition in partitions]
        return [(await one).offset for one in appends]

    async def extents(self, partition: Partition) -> list[Extent]:
        head = await self.ledger.head(partition)
        return list(await self.log.reader.extents_from(partition, 0, head.next_offset, 100))

    async def values(self, partition: Partition, offset: int = 0) -> list[bytes | None]:
        found: list[bytes | None] = []
        while (plan := await self.log.plan(partition, offset, 100_000)).ranges:
            for piece in await self.log.load(plan.ranges):
                assert not hasattr(piece, "fd")
                found += [record.value for record in records(memoryview(piece))]
            offset = plan.ranges[-1].end_offset
        return found

    async def windows(self) -> list[str]:
        return [key async for key in self.objects.list(WINDOWS)]

    async def leave(self, partition: Partition) -> None:
        """Copy out what is in windows, and let the grace time of that pass."""
        await self.log.merger.merge(partition, RoundBudget(PLENTY, PLENTY))
        for _ in range(3):
            await self.log.sweeper.sweep(partition)


def a_value(partition: Partition) -> bytes:
    return str(partition).encode().ljust(LARGE, b".")


def a_batch(partition: Partition) -> Batch:
    data = bytearray(build([Record(0, 1, None, a_value(partition))]))
    return Batch(read_header(data), memoryview(data))
