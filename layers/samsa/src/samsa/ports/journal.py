"""The journal: how bytes come into the log. An append is one commit.

The bytes are stored first, where no reader looks for them; then one conditional update of the
partition's head gives them their offsets, binds their producers and shows them, or does nothing.
"""

from collections.abc import Sequence
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
    """The base of the commit that wrote it: only the commit itself knew it."""


class Claim(NamedTuple):
    """A producer's next state. It holds if the version that is stored is `after`."""

    producer_id: int
    state: bytes
    after: int
    """The version that it was judged by; 0: there was none. The new one is one more."""
    expires_at: int
    """When it may be forgotten (ms)."""


class CommitResult(NamedTuple):
    head: Head
    base: int | None
    """The first offset that it got. None: nothing was stored, because claims were lost."""
    lost: tuple[int, ...] = ()
    """The producers whose claims did not hold: their state is to be read again."""


class Tail(NamedTuple):
    """The end of a partition."""

    head: Head
    extents: Sequence[Extent]
    """One after the other, the first of which holds the offset that was asked for."""


class Journal(Protocol):
    calls: dict[str, int]
    """Each method by its name; "again": commits that were sent once more; "pack": appends that were
    written to a file of the journal's own."""
    far: bool
    """Whether a commit is a call over a network."""

    @property
    def head_bytes(self) -> int:
        """What the heaviest head weighs that was seen lately; 0 where that is no matter."""
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
    ) -> CommitResult:
        """Append `parts`, which carry the offsets from `extent.base` on: the guess. The extent
        describes them; its `key`, `start`, `shift`, `data` and `id` are chosen here.

        Raises UnknownPartition; and Unavailable, after which it may be stored or not. What is
        appended a second time then is stored twice, unless it has a claim.
        """
        ...

    def tail(self, partition: Partition, offset: int) -> Tail | None:
        """What the ledger would say of what is stored from `offset` on, if it need not be asked."""
        ...

    async def settle(self, partition: Partition) -> None:
        """Move what is in the head's tail to the index. Raises UnknownPartition."""
        ...

    async def count_sweep(self, partition: Partition) -> None:
        """From now on no commit can show an object that was put before this call and is not in the
        head's tail by now: it raises or puts the bytes again."""
        ...

    async def sweep(self, partition: Partition, below: int) -> None:
        """Delete what holds only offsets below `below`, which is at or below log_start."""
        ...

    async def discard(self, partition: Partition, key: str) -> bool:
        """Delete one of its own objects if nothing that is indexed lies in it. False: it may be
        written to, and it is not known yet."""
        ...

    async def bury(self, topic_id: UUID) -> None:
        """Delete all that a topic has left."""
        ...

    async def drain(self) -> None:
        """Wait for what a commit left to be done after it."""
        ...

    async def close(self) -> None: ...
