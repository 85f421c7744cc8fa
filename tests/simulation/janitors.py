"""Those who tidy: retention, merging and sweeping, and administrators who delete records."""

from samsa.log.merge import RoundBudget
from samsa.log.read import OutOfRange
from samsa.log.retain import UP_TO_THE_END
from samsa.ports import Missing, Partition

from .client import LATER, Client
from .process import Process


class Janitor(Client):
    async def run(self) -> None:
        rest = self.world.rng.choice((0.2, 0.8))
        while not self.world.finished:
            await self.think(rest)
            process = await self.world.pick()
            partition = self.world.rng.choice(self.world.partitions)
            work = process.log.retainer.retain(partition, self.world.setting.retention)
            try:
                await self.answer(process, self.world.spawn(work))
            except LATER:
                continue


class Deleter(Client):
    """An administrator: the log starts where he says, which may be inside an entry."""

    async def run(self) -> None:
        rest = self.world.rng.choice((0.5, 2.0))
        while not self.world.finished:
            await self.think(rest)
            await self.delete(await self.world.pick(), self.world.rng.choice(self.world.partitions))

    async def delete(self, process: Process, partition: Partition) -> None:
        rng, head = self.world.rng, self.world.ledger.item(partition).head()
        inside = rng.randint(head.log_start, head.next_offset)
        offset = rng.choice((inside, inside, inside, head.next_offset + 1, UP_TO_THE_END))
        work = process.log.retainer.delete_before(partition, offset)
        try:
            start = await self.answer(process, self.world.spawn(work, OutOfRange))
        except LATER:
            return
        except OutOfRange as out:
            self.world.require(offset > head.next_offset, f"{offset} is not out of range: {out}")
        else:
            self.world.require(start >= offset, f"{offset} was asked for and {start} granted")
            self.world.paths["records were deleted"] += start > head.log_start
            shadow = self.world.truth.shadows[partition]
            inside = start < shadow.end and start not in shadow.entries
            self.world.paths["the log starts inside an entry"] += inside


class Merger(Client):
    """Settles, merges, sweeps and looks for orphans, in any order; there may be two of them, on two
    processes."""

    async def run(self) -> None:
        rest = self.world.rng.choice((0.2, 0.8)) * self.world.setting.haste
        while not self.world.finished:
            await self.think(rest)
            process = await self.world.pick()
            await self.work(process, self.world.rng.choice(self.world.partitions))

    async def work(self, process: Process, partition: Partition) -> None:
        log, rng = process.log, self.world.rng
        work = rng.choice(
            (
                lambda: log.merger.merge(partition, RoundBudget(1_000, rng.choice((1, 5)))),
                lambda: log.merger.merge(partition, RoundBudget(100_000, 100)),
                lambda: log._stores.journal.settle(partition),
                lambda: log.sweeper.sweep(partition),
                lambda: log.sweeper.find_orphans(partition),
                lambda: log.janitor.windows.sweep(),
            )
        )
        try:
            await self.answer(process, self.world.spawn(work(), Missing))
        except (*LATER, Missing):
            return
