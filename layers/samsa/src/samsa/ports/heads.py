"""A partition's head, as the journal of remote stores updates it (`aws/journal.py`).

A store of heads is below the journal: DynamoDB (`aws/heads.py`), or memory in the simulation. The
rules of a commit are in the journal; a store of heads only promises that each call is one atomic
step, which happens or not.

An update that removes something from a head names its value: the base of an entry, the version of a
producer's state. So an update that arrives long after its sender gave up removes nothing newer.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from .extents import Extent
from .journal import Bound, Claim
from .partitions import Aborted, Head, Partition

MOST_CLAIMS = 64
"""In one update: an expression of DynamoDB has at most 4 KB and 300 operators."""
MOST_REMOVED = 16
"""Entries, or producers, that one update takes out."""


class HeadProducer(NamedTuple):
    """An idempotent producer's state in a head."""

    bound: Bound
    used_at: int
    """When it was stored (ms, rounded down to seconds)."""
    expires_at: int
    """When it may be forgotten (ms, rounded up to seconds)."""


class HeadState(NamedTuple):
    """Everything that is in a head."""

    head: Head
    producers: Mapping[int, HeadProducer]
    evictions: int
    """How many times producers were moved out of it."""
    sweeps: int
    """How many sweeps were counted: for orphaned objects, or to fence an update of unknown
    outcome."""
    weight: int
    """Bytes, about as DynamoDB counts them."""

    @property
    def age(self) -> tuple[int, int, int]:
        """Never decreases: of two answers, the one with the smaller age is the older one."""
        return self.head.next_offset, self.evictions, self.sweeps


class HeadClaim(NamedTuple):
    """A claim, and what the head must say for it to hold.

    Whether the producer has a transaction open changes only with claims of its own. So if the claim
    holds, the head's `open_transactions` has for this producer what it had when that was read.
    """

    claim: Claim
    evictions: int | None
    """None: the producer is in the head, with the version `claim.after`. Else: it is not in the
    head, and the head's `evictions` is the same as before the producer's own item was read."""
    opens: int | None = None
    """A transaction of the producer opens at this distance from the base."""
    closes: bool = False
    """The producer has a transaction open, and it ends here."""
    aborted: tuple[int, int] | None = None
    """It is aborted: its first offset, and `Aborted.stable`."""


class HeadUpdate(NamedTuple):
    """One commit."""

    entry: Extent
    """With its id, its bytes or the key of its object, and the guess for its base."""
    sweeps: int
    """The head's count before the entry's object was put, or before the update was first sent."""
    claims: Sequence[HeadClaim] = ()
    """Up to MOST_CLAIMS."""
    now_ms: int = 0
    settled: Mapping[str, int] = {}
    """Entries to take out, by id, with their bases: they are in the index. Up to MOST_REMOVED."""


class HeadStore(Protocol):
    """Every call raises Unavailable. All that take a partition's head raise UnknownPartition."""

    async def head_state(self, partition: Partition) -> HeadState: ...

    async def update_head(self, partition: Partition, update: HeadUpdate) -> tuple[HeadState, bool]:
        """Add the entry at the head's next offset, advance that, store the claims' states with
        this base, and take out settled entries: all of it (True) or nothing (False).

        It succeeds if no entry has that id, every claim holds, `sweeps` is the same, and each
        settled entry has the given base or is not there any more. Returns the head afterwards; or,
        if refused, as it was. Raises NotDone if it certainly did not happen, and Unavailable if
        that is not known: the store never retries it by itself.
        """
        ...

    async def take_out(self, partition: Partition, settled: Mapping[str, int]) -> HeadState:
        """Take settled entries out, by id and base, all or none. Up to MOST_REMOVED."""
        ...

    async def count_sweep(self, partition: Partition) -> HeadState: ...

    async def producer_item(self, partition: Partition, producer_id: int) -> Bound | None:
        """A producer's own item, where its state goes when it leaves the head."""
        ...

    async def store_producer(
        self, partition: Partition, producer_id: int, producer: HeadProducer
    ) -> None:
        """Write the producer's own item, unless it has this version or a newer one."""
        ...

    async def evict(self, partition: Partition, producers: Mapping[int, HeadProducer]) -> HeadState:
        """Take out producers that have their own items, if their versions are still the same, and
        count the eviction: all or none. Up to MOST_REMOVED."""
        ...

    async def index(self, partition: Partition, extent: Extent) -> None:
        """As `Ledger.index`."""
        ...

    async def store_aborted(self, partition: Partition, aborted: Aborted) -> None:
        """Store it where `Ledger.aborted` finds it, before its marker leaves the head's tail.
        Repeating that does no harm."""
        ...

    async def extents(self, partition: Partition, offset: int, limit: int) -> list[Extent]:
        """As `Ledger.extents`."""
        ...


def object_key(partition: Partition, entry_id: str) -> str:
    """The key of an entry's object, if its bytes are not in the head."""
    return f"log/{partition.topic_id}/{partition.number}/{entry_id}"


def entry_weight(entry: Extent) -> int:
    """Bytes of an entry in the head, about as DynamoDB counts them."""
    return 60 + len(entry.data) + 8 * len(entry.marks)
