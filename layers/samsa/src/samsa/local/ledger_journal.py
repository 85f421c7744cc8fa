"""The common part of the journals of a SQLite ledger: the commit, and the next offset.

While the process is alone with the ledger, it knows the next offset of each partition that it
appended to (`write_behind.py`). Otherwise it guesses that no other process has appended since its
own last append: a query would cost a sixth of an append, and with fsync more than that. If the
guess is wrong, the append gets a shift.
"""

from collections import defaultdict
from collections.abc import Sequence

from samsa.bounded import Bounded
from samsa.local.database import Busy
from samsa.local.sqlite import SqliteLedger
from samsa.ports import Bound, Claim, CommitResult, Extent, Partition, Tail

REMEMBERED = 100_000
BUSY_TRIES = 8
"""Tries of a commit, each as long as the tries of any other call together. It gets more than other
calls because its bytes are written already."""


class LedgerJournal:
    remote = False
    head_bytes = 0

    def __init__(self, ledger: SqliteLedger) -> None:
        self.calls: dict[str, int] = defaultdict(int)
        self._ledger = ledger
        self._ends = Bounded[Partition, int](REMEMBERED)
        """The next offsets after this process's last commits."""

    async def next_offset(self, partition: Partition) -> int:
        self.calls["next_offset"] += 1
        write_behind = self._ledger.write_behind
        known = (
            write_behind.next_offset(partition) if write_behind.alone else self._ends.get(partition)
        )
        if known is not None:
            return known
        head = await self._ledger.head(partition)
        write_behind.remember(partition, head)
        return int(head.next_offset)

    async def _commit(
        self,
        partition: Partition,
        extent: Extent,
        key: str,
        start: int,
        claims: Sequence[Claim],
        sweeps: int | None = None,
    ) -> CommitResult:
        """The ledger's commit, with more tries while another process writes for long."""
        for tried in range(1, BUSY_TRIES + 1):
            try:
                done: CommitResult = await self._ledger.commit(
                    partition, extent, key, start, claims, sweeps
                )
                break
            except Busy:
                if tried == BUSY_TRIES:
                    raise
        self._ends.keep(partition, done.head.next_offset)
        return done

    async def producer(self, partition: Partition, producer_id: int) -> Bound | None:
        self.calls["producer"] += 1
        bound: Bound | None = await self._ledger.producer(partition, producer_id)
        return bound

    def tail(self, partition: Partition, offset: int) -> Tail | None:
        self.calls["tail"] += 1
        return self._ledger.write_behind.tail(partition, offset)

    async def settle(self, partition: Partition) -> None:
        """Any ledger call settles the notes first."""
        self.calls["settle"] += 1
        await self._ledger.head(partition)

    async def drain(self) -> None:
        """Does nothing: notes are final, and are settled by a timer."""
