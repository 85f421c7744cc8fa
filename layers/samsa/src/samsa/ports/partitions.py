"""Topics, partitions, and a partition's head."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from .extents import Extent


class Partition(NamedTuple):
    topic_id: UUID
    number: int

    def __str__(self) -> str:
        return f"{self.topic_id}/{self.number}"


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    id: UUID
    partitions: int
    created_at: int
    configs: Mapping[str, str] = field(default_factory=dict)


class Aborted(NamedTuple):
    """A transaction that was aborted: what it has in one partition."""

    marker: int
    """The offset of its marker, which ends it."""
    producer_id: int
    first: int
    """The offset of its first batch. Between the two, all transactional batches of the producer
    belong to it."""
    stable: int
    """All transactions with later markers begin at this offset or later."""


class Head(NamedTuple):
    """A partition's item: what every commit updates."""

    next_offset: int
    """The end that readers see, and the base of the next commit."""
    log_start: int
    watchers: Mapping[str, int]
    """The addresses that a commit wakes: address → when the watch expires (ms)."""
    settled_to: int = 0
    """Below this offset an extent counts only if a swap wrote it."""
    tail: tuple[Extent, ...] = ()
    """Entries by base. Each stays here until it is in the index: read the head first, then the
    index."""
    open_transactions: Mapping[int, int] = {}
    """Producer id → the offset of the first batch of the transaction that it has open here."""
    aborted_to: int = 0
    """The offset after the last marker of an aborted transaction; 0: there is none."""
    aborted: tuple[Aborted, ...] = ()
    """Those whose markers are in the tail, by marker. For all others ask the ledger, after the
    head."""
    aborted_from: int = 0
    """Those with markers below this offset are forgotten."""

    @property
    def stable_end(self) -> int:
        """The last stable offset: below it, every transaction is decided and has its marker."""
        if not self.open_transactions:
            return self.next_offset
        return max(self.log_start, min(self.open_transactions.values()))
