"""A process that keeps its SQLite ledger to itself, and what a crash leaves of it."""

import shutil
import sqlite3
from pathlib import Path
from uuid import UUID

from samsa.local.folder import FolderObjects
from samsa.local.journal import SqliteJournal
from samsa.local.sqlite import SqliteLedger
from samsa.ports import Claim, CommitResult, Extent, Partition, Topic

PARTITION = Partition(UUID(int=1), 0)
PARTITIONS = [Partition(PARTITION.topic_id, number) for number in range(3)]
TOPIC = Topic("letters", PARTITION.topic_id, len(PARTITIONS), 0)


class Alone:
    """A process that keeps its ledger to itself."""

    def __init__(self, folder: Path, process: str = "a") -> None:
        self.folder = folder
        self.ledger = SqliteLedger(str(folder / "ledger.db"))
        self.objects = FolderObjects(str(folder / "objects"))
        self.journal = SqliteJournal(self.ledger, self.objects.root, process)
        self.is_alone = self.journal.stay_alone()

    async def append(
        self, base: int, *claims: Claim, partition: Partition = PARTITION
    ) -> CommitResult:
        data = b"%d" % base
        extent = Extent(base, 1, len(data), 7, 8, "", (), 1)
        return await self.journal.commit(partition, extent, [data], claims)

    @property
    def waiting(self) -> int:
        return len(self.ledger.write_behind.waiting)

    def in_the_database(self) -> int:
        with sqlite3.connect(self.folder / "ledger.db") as db:
            return int(db.execute("SELECT coalesce(sum(offsets), 0) FROM extents").fetchone()[0])

    async def stored(self) -> list[bytes]:
        """What the index leads to, one by one: every append is a digit."""
        found = await self.ledger.extents(PARTITION, 0, 1_000)
        data = [bytes(await self.objects.get(e.key, e.start, e.size)) for e in found]
        return [bytes([digit]) for digit in b"".join(data)]

    async def close(self) -> None:
        await self.journal.close()
        await self.objects.close()
        await self.ledger.close()


def crashed(alone: Alone, folder: Path) -> None:
    """The files as a SIGKILL would leave them now."""
    shutil.copytree(alone.folder, folder, ignore=shutil.ignore_patterns("copy*"))
