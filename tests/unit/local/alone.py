"""A process that keeps its SQLite ledger to itself, and what a crash leaves of it."""

import shutil
import sqlite3
from pathlib import Path

from unit.local.stores import PARTITION, LocalStores

from samsa.ports import Claim, CommitResult, Partition, Topic

PARTITIONS = [Partition(PARTITION.topic_id, number) for number in range(3)]
TOPIC = Topic("letters", PARTITION.topic_id, len(PARTITIONS), 0)


class Alone(LocalStores):
    """A process that keeps its ledger to itself. Every append is a digit."""

    def __init__(self, folder: Path, process: str = "a") -> None:
        super().__init__(folder, process)
        self.is_alone = self.journal.stay_alone()

    async def append(
        self, base: int, *claims: Claim, partition: Partition = PARTITION
    ) -> CommitResult:
        return await self.commit(base, b"%d" % base, *claims, partition=partition)

    @property
    def waiting(self) -> int:
        return len(self.ledger.write_behind.waiting)

    def in_the_database(self) -> int:
        with sqlite3.connect(self.folder / "ledger.db") as db:
            return int(db.execute("SELECT coalesce(sum(offsets), 0) FROM extents").fetchone()[0])


def crashed(alone: Alone, folder: Path) -> None:
    """The files as a SIGKILL would leave them now."""
    shutil.copytree(alone.folder, folder, ignore=shutil.ignore_patterns("copy*"))
