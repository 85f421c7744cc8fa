"""The journal of a SQLite ledger whose objects are elsewhere: in memory, or on S3.

An append is put as an object with a new key. Then the ledger's transaction commits it, on condition
that no sweep was counted since before the put: a sweeper deletes the objects that it has listed and
does not find in the index. If a sweep was counted, the bytes are put again, with another key.

The log sweeps the objects of appends that were never committed.
"""

from collections.abc import Callable, Sequence
from uuid import UUID

from samsa.local.ledger_journal import LedgerJournal
from samsa.local.sqlite import SqliteLedger, SweepsMoved
from samsa.ports import Buffer, Claim, CommitResult, Extent, Objects, Partition
from samsa.ports.heads import object_key


class ObjectJournal(LedgerJournal):
    def __init__(self, ledger: SqliteLedger, objects: Objects, nonce: Callable[[], str]) -> None:
        """`nonce` returns a unique word."""
        super().__init__(ledger)
        self.remote = objects.remote
        self._objects = objects
        self._nonce = nonce

    async def commit(
        self,
        partition: Partition,
        extent: Extent,
        parts: Sequence[Buffer],
        claims: Sequence[Claim],
        lingers: bool = False,  # noqa: ARG002
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
        """Does nothing: the log itself deletes the objects under log/."""

    async def discard(self, partition: Partition, key: str) -> bool:  # noqa: ARG002
        """Does nothing, as `sweep`."""
        return True

    async def bury(self, topic_id: UUID) -> None:
        """Does nothing, as `sweep`."""

    async def close(self) -> None:
        """Does not close the ledger and the objects: the caller that opened them does."""
