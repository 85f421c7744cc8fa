"""The journal of a SQLite ledger whose objects are elsewhere: in memory, or on S3.

An append is an object under a fresh key, and then the ledger's transaction, on condition that no
sweep was counted since before the put: a sweeper deletes what it listed before and finds in no
index. If one was, the bytes are put again, under another key.

The objects of appends that were never committed are swept by the log.
"""

from collections.abc import Callable, Sequence
from uuid import UUID

from samsa.local.ledger_journal import LedgerJournal
from samsa.local.sqlite import SqliteLedger, SweepsMoved
from samsa.ports import Buffer, Claim, CommitResult, Extent, Objects, Partition
from samsa.ports.heads import object_key


class ObjectJournal(LedgerJournal):
    def __init__(self, ledger: SqliteLedger, objects: Objects, nonce: Callable[[], str]) -> None:
        """`nonce` gives a word that nobody else ever uses."""
        super().__init__(ledger)
        self.far = objects.far
        self._objects = objects
        self._nonce = nonce

    async def commit(
        self,
        partition: Partition,
        extent: Extent,
        parts: Sequence[Buffer],
        claims: Sequence[Claim],
    ) -> CommitResult:
        self.calls["commit"] += 1
        while True:
            sweeps = await self._ledger.sweeps(partition)
            key = object_key(partition, self._nonce())
            await self._objects.put_if_absent(key, parts)
            try:
                return await self._commit(partition, extent, key, 0, claims, sweeps)
            except SweepsMoved:
                self.calls["again"] += 1

    async def count_sweep(self, partition: Partition) -> None:
        self.calls["count_sweep"] += 1
        await self._ledger.count_sweep(partition)

    async def sweep(self, partition: Partition, below: int) -> None:
        """What is below log/ the log deletes itself."""

    async def discard(self, partition: Partition, key: str) -> bool:  # noqa: ARG002
        """The same."""
        return True

    async def bury(self, topic_id: UUID) -> None:
        """The same."""

    async def close(self) -> None:
        """Ledger and objects are closed by whoever opened them."""
