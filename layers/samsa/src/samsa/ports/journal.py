"""The journal: ledger and objects in one, where they are."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol
from uuid import UUID

from .extents import Extent
from .objects import Buffer
from .partitions import Head, Partition


class Claim(NamedTuple):
    """A producer's next state, as `Ledger.bind` takes it."""

    producer_id: int
    state: bytes
    after: int
    expires_at: int


class Journaled(NamedTuple):
    head: Head
    stored: bool
    """False: nothing was, because the next offset is another one or a claim lost its race."""
    lost: tuple[int, ...] = ()
    """The producers whose claims lost."""


class Tail(NamedTuple):
    """The end of a partition."""

    head: Head
    extents: Sequence[Extent]
    """One after the other, the first of which holds the offset that was asked for."""


class Journal(Protocol):
    """Where ledger and objects are one, an append is one step: reserve, bind, write once and
    confirm together, or nothing. It stands beside the two ports, and stores what they read."""

    calls: dict[str, int]

    async def append(
        self,
        partition: Partition,
        extent: Extent,
        parts: Sequence[Buffer],
        claims: Sequence[Claim],
    ) -> Journaled:
        """Store `parts` as the slot that `extent` describes, and index it, if its base is the next
        offset and every claim holds. Its object and its start are chosen here.

        Raises UnknownPartition; and Unavailable, after which nobody knows whether it is stored.
        """
        ...

    def tail(self, partition: Partition, offset: int) -> Tail | None:
        """What the ledger would say of what is stored from `offset` on, if it need not be asked."""
        ...

    async def sweep(self, partition: Partition, below: int) -> None:
        """Delete what holds only offsets below `below`, which is at or below log_start."""
        ...

    async def discard(self, partition: Partition, key: str) -> bool:
        """Delete one of its objects if nothing that is indexed lies in it. False: it may be written
        to, and nobody knows yet."""
        ...

    async def bury(self, topic_id: UUID) -> None:
        """Delete all that a topic has left."""
        ...

    async def close(self) -> None: ...
