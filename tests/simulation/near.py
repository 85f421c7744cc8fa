"""The journals of one machine, and how they reach a simulated SQLite ledger.

The journals are the real ones. What a process notes while it is alone with its ledger is not played
here; but what it would remember then, it may: what was appended last.
"""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from samsa.local.journal import SqliteJournal
from samsa.local.packs import PackPosition
from samsa.ports import Buffer, Extent, Partition, Tail

from .doors import Door
from .packs import PackFolder
from .truth import Truth

if TYPE_CHECKING:
    from .process import Process


class Noted:
    """In place of `local.write_behind.WriteBehind`."""

    alone = False

    def __init__(self, process: "Process", ledger: Any) -> None:
        self._process = process
        self._ledger = ledger

    def remember(self, *_: Any) -> None:
        """Others write too."""

    def commit(self, *_: Any) -> None:
        """It takes a transaction."""

    def tail(self, partition: Partition, offset: int) -> Tail | None:
        """A process that is alone knows this; here any process may, as long as it is true."""
        if self._process.world.rng.random() < 0.5:
            return None
        item = self._ledger.item(partition)
        head = item.head()
        found = [extent for extent in item.valid() if extent.end > offset]
        joined = all(one.end == after.base for one, after in pairwise(found))
        if not found or found[0].base > offset or found[-1].end != head.next_offset or not joined:
            return Tail(head, []) if offset == head.next_offset else None
        return Tail(head, found)


class Healthy:
    """The health of a disk that never fails."""

    trouble = None

    def failed(self, error: OSError, doing: str) -> Exception:
        return AssertionError(f"{doing}: {error!r}")


class NearDoor(Door):
    def __init__(self, process: "Process", store: Any) -> None:
        super().__init__(process, store)
        self.write_behind = Noted(process, store)
        self.health = Healthy()

    async def persist(self) -> None:
        """Whatever was committed stays."""


class SimSqliteJournal(SqliteJournal):
    def __init__(self, ledger: Any, folder: PackFolder, process: str, truth: Truth) -> None:
        super().__init__(ledger, folder.path, process)
        self._packs = folder.packs(process, truth)

        self._crashed = False

    async def _write(
        self, partition: Partition, extent: Extent, parts: Sequence[Buffer]
    ) -> PackPosition:
        """What a process that has crashed was about to write is never written."""
        if self._crashed:
            await asyncio.get_running_loop().create_future()
        return await super()._write(partition, extent, parts)

    def crash(self) -> None:
        self._crashed = True
        self._packs.crash()
