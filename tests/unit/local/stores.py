"""What a process has open on a data folder: a SQLite ledger, a folder of objects, their journal."""

import sqlite3
from pathlib import Path
from uuid import UUID

from samsa.local import settling
from samsa.local.folder import FolderObjects
from samsa.local.journal import SqliteJournal
from samsa.local.sqlite import SqliteLedger
from samsa.ports import Claim, CommitResult, Extent, Partition

PARTITION = Partition(UUID(int=1), 0)


class LocalStores:
    def __init__(self, folder: Path, process: str = "a", fsync: bool = False) -> None:
        self.folder = folder
        self.path = str(folder / "ledger.db")
        self.ledger = SqliteLedger(self.path, fsync)
        self.objects = FolderObjects(str(folder / "objects"), fsync)
        self.journal = SqliteJournal(self.ledger, self.objects.root, process, fsync)

    async def commit(
        self, base: int, data: bytes, *claims: Claim, partition: Partition = PARTITION
    ) -> CommitResult:
        """One record, which the process believes to get this offset."""
        extent = Extent(base, 1, len(data), 7, 8, "", (), 1)
        return await self.journal.commit(partition, extent, [data], claims)

    async def pieces(self, partition: Partition = PARTITION) -> list[bytes]:
        """What the index leads to."""
        found = await self.ledger.extents(partition, 0, 1_000)
        return [bytes(await self.objects.get(e.key, e.start, e.size)) for e in found]

    async def single_bytes(self) -> list[bytes]:
        """The same, where each append is one byte. Those that lie together are one extent."""
        return [bytes([byte]) for byte in b"".join(await self.pieces())]

    async def close(self) -> None:
        await self.journal.close()
        await self.objects.close()
        await self.ledger.close()


class CommitsAndRaises(settling.SqlTransaction):
    """Commits, and says that it has not."""

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        super().__exit__(kind, *rest)
        raise sqlite3.OperationalError("disk I/O error")
