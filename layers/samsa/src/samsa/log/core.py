"""The log, put together: what the handlers and the server call."""

import asyncio
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from samsa.ports import Head, Objects, Partition, Piece

from .admit import Outcome
from .append import Appender, Marker
from .background import Background
from .extents import Range
from .janitor import Janitor
from .layout import Batch
from .merge import Merger
from .read import Plan, Reader
from .retain import Retainer
from .stores import Stores
from .times import Times
from .watch import Watches
from .window import Window
from .windows import WindowSweeper
from .writer import Appending, PartitionWriter

if TYPE_CHECKING:
    from .compact import Compactor


class Log:
    def __init__(self, stores: Stores) -> None:
        self.background = Background()
        self.reader = Reader(stores)
        self.times = Times(stores, self.reader)
        self.retainer = Retainer(stores, self.reader)
        self.sweeper = self.retainer.sweeper
        self.merger = Merger(stores, self.reader)
        windows = WindowSweeper(stores, self.sweeper)
        self.janitor = Janitor(stores, self.retainer, self.merger, self.sweeper, windows)
        self.watches = Watches(stores)
        self._stores = stores
        self.appender = Appender(stores)
        self._writers: dict[Partition, PartitionWriter] = {}
        window_ms = stores.limits.window_ms
        self._window = Window(window_ms) if window_ms else None

    @property
    def appended(self) -> int:
        """Offsets that this process has appended."""
        return self.appender.appended

    @cached_property
    def compactor(self) -> "Compactor":
        """Imported with the first compacted topic."""
        from .compact import Compactor

        return Compactor(self._stores, self.reader)

    def append(self, partition: Partition, batch: Batch) -> Appending:
        """Append through the partition's writer: order of calls is order in the log."""
        writer = self._writers.get(partition)
        if writer is None:
            limits = self._stores.limits
            writer = PartitionWriter(partition, self.appender, limits, self._window)
            self._writers[partition] = writer
        return writer.submit(batch)

    async def append_once(self, partition: Partition, batches: Sequence[Batch]) -> list[Outcome]:
        """Append in a separate commit, for a process that ends with its request (a function)."""
        return await self.appender.append(partition, batches)

    async def mark(self, partition: Partition, marker: Marker) -> bool:
        """End a transaction in a partition, unless it has ended there already."""
        return await self.appender.mark(partition, marker)

    async def head(self, partition: Partition) -> Head:
        return await self.reader.head(partition)

    async def plan(
        self, partition: Partition, offset: int, max_bytes: int, committed: bool = False
    ) -> Plan:
        return await self.reader.plan(partition, offset, max_bytes, committed)

    async def outline(self, partition: Partition, offset: int, committed: bool = False) -> Plan:
        return await self.reader.outline(partition, offset, committed)

    async def load(self, ranges: Sequence[Range], objects: Objects | None = None) -> list[Piece]:
        return await self.reader.load(ranges, objects)

    def forget(self, partition: Partition) -> None:
        """Drop the writer of a deleted partition. A busy writer stays: its commit will fail."""
        writer = self._writers.get(partition)
        if writer is not None and writer.idle:
            del self._writers[partition]

    async def background_done(self) -> None:
        """Wait for the work that requests started and did not wait for."""
        await self.background.drain()
        await self._stores.journal.drain()

    async def drain(self) -> None:
        """Wait until nothing is being written."""
        while busy := [writer for writer in self._writers.values() if not writer.idle]:
            await asyncio.gather(*(writer.finished() for writer in busy))
        await self.background_done()
