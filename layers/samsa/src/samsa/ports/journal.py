"""The journal: how bytes come into the log. An append is one commit.

The bytes are stored first, where no reader looks for them; then one conditional update of the
partition's head gives them their offsets, binds their producers and shows them, or does nothing.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol
from uuid import UUID

from .extents import Extent
from .objects import Buffer
from .partitions import Head, Partition


class Bound(NamedTuple):
    """An idempotent producer's state on one partition: opaque here but for its version."""

    version: int
    state: bytes
    base: int
    """The base of the commit that wrote it. The state cannot hold it: the commit decides it."""


class End(IntEnum):
    """How a transaction ended. The values are those of Kafka's markers."""

    ABORT = 0
    COMMIT = 1


class Claim(NamedTuple):
    """A producer's next state. It holds if the version that is stored is `after`.

    A claim also opens and ends the producer's transaction in the partition. So a commit that was
    judged before a transaction ended is refused after it.
    """

    producer_id: int
    state: bytes
    after: int
    """The version of the state that was judged; 0: there was none. The new version is one more."""
    expires_at: int
    """When it may be forgotten (ms). The ledger keeps it while its transaction is open."""
    opens: int = -1
    """The distance from the commit's base of the producer's first transactional batch; −1: it has
    none. A transaction opens there, unless the producer has one open already."""
    ends: End | None = None
    """The append is the marker that ends the producer's transaction. If that has batches here and
    is aborted, it is listed as `Aborted`. Such a claim is alone in its commit."""


class CommitResult(NamedTuple):
    head: Head
    base: int | None
    """The first offset of the append. None: nothing was stored, because claims were lost."""
    lost: tuple[int, ...] = ()
    """The producers whose claims did not hold: their states have to be read again."""


class Tail(NamedTuple):
    """The end of a partition, as a journal knows it without asking the ledger."""

    head: Head
    extents: Sequence[Extent]
    """Neighbours in order. The first holds the offset that was asked for."""


class Journal(Protocol):
    calls: dict[str, int]
    """Counts each method by its name. "again": commits that were sent again; "pack": appends that
    were written to a pack."""
    remote: bool
    """Whether a commit is a call over a network."""

    @property
    def head_bytes(self) -> int:
        """Size of the largest head that was seen lately; 0 if head size does not matter."""
        ...

    async def next_offset(self, partition: Partition) -> int:
        """A guess at the base of the next commit: never above it, and right if this process
        appended last. Asks the ledger only if the partition was not seen before."""
        ...

    async def producer(self, partition: Partition, producer_id: int) -> Bound | None:
        """A producer's state. It may be old: then the claim that follows from it is lost."""
        ...

    async def commit(
        self,
        partition: Partition,
        extent: Extent,
        parts: Sequence[Buffer],
        claims: Sequence[Claim],
        lingers: bool = False,
    ) -> CommitResult:
        """Append `parts`. Their batches have offsets from `extent.base` on: the guess. The extent
        describes them; its `key`, `start`, `shift`, `data` and `id` are chosen here. `lingers`: the
        answer may be a little late if that keeps the head small.

        Raises UnknownPartition; and Unavailable: then the append may be stored or not. If it is
        repeated, it may be stored twice, unless it has a claim.
        """
        ...

    def tail(self, partition: Partition, offset: int) -> Tail | None:
        """The head and the extents from `offset` on, if they are known without asking the
        ledger."""
        ...

    async def settle(self, partition: Partition) -> None:
        """Move the entries of the head's tail to the index. Raises UnknownPartition."""
        ...

    async def count_sweep(self, partition: Partition) -> None:
        """Fence older puts: after this call no commit can show an object that was put before it and
        is not in the head's tail yet. Such a commit raises, or puts the bytes again."""
        ...

    async def sweep(self, partition: Partition, below: int) -> None:
        """Delete the packs that hold only offsets below `below`, which is at or below log_start."""
        ...

    async def discard(self, partition: Partition, key: str) -> bool:
        """Delete one of the journal's own objects (a pack) if no extent of the index lies in it.
        False: not known yet, because the object may still be written to."""
        ...

    async def bury(self, topic_id: UUID) -> None:
        """Delete everything that is left of a topic."""
        ...

    async def drain(self) -> None:
        """Wait for the work that commits left to be done after them."""
        ...

    async def close(self) -> None: ...
