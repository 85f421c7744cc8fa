"""The ledger: what is decided about topics and partitions, one step at a time."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from .extents import Extent, PendingDeletion
from .journal import Bound
from .nodes import Node
from .partitions import Aborted, Head, Partition, Topic


class Ledger(Protocol):
    """DynamoDB or SQLite. `calls` counts each method by name: tests pin what a request costs."""

    calls: dict[str, int]

    async def head(self, partition: Partition) -> Head: ...

    async def index(self, partition: Partition, extent: Extent) -> None:
        """Add the extent, unless the index has one that holds any of its offsets.

        So a late call cannot bring back an extent that was merged since.
        """
        ...

    async def replace_extents(
        self, partition: Partition, old: Sequence[Extent], new: Sequence[Extent]
    ) -> bool:
        """Swap: replace `old`, a run of neighbours, by `new`, over the same offsets.

        All or nothing. False if any of `old` is not there exactly as given any more, or if a fresh
        object of `new` (one that `old` does not name) is not announced (any more). The swap removes
        the pending deletion of the fresh object, and adds one for the objects that only `old`
        named. Repeating a swap that succeeded answers True.
        """
        ...

    async def announce(self, partition: Partition, deletion: PendingDeletion) -> None:
        """Store a pending deletion. If there is one of that name, it stays as it is."""
        ...

    async def pending_deletions(self, partition: Partition, limit: int) -> list[PendingDeletion]:
        """Up to `limit` of them, ordered by name."""
        ...

    async def condemn(self, partition: Partition, name: str, since: int) -> bool:
        """Start a pending deletion's grace time at `since`. From then on no swap can take what it
        announced. False: there is none of that name."""
        ...

    async def forget_deletion(self, partition: Partition, name: str) -> None:
        """Remove one whose objects are deleted. Removing a missing one is no error."""
        ...

    async def cursor(self, partition: Partition, name: str) -> int:
        """Where some work stopped; 0 if it never began. A hint: nothing depends on it."""
        ...

    async def move_cursor(self, partition: Partition, name: str, value: int) -> None:
        """Store a cursor; 0 removes it."""
        ...

    async def extents(self, partition: Partition, offset: int, limit: int) -> list[Extent]:
        """Up to `limit` extents in order, from the first that ends after `offset`."""
        ...

    async def extent_at_time(self, partition: Partition, timestamp: int) -> Extent | None:
        """The first extent, at or above log_start, whose max_timestamp ≥ `timestamp`."""
        ...

    async def newest_extent(self, partition: Partition) -> Extent | None:
        """The extent with the greatest max_timestamp (the first of equals)."""
        ...

    async def producers(self, partition: Partition, now: int) -> dict[int, Bound]:
        """All producers' states that have not expired, by producer id. Read it after the head:
        the states of all that the head shows were stored before."""
        ...

    async def aborted(self, partition: Partition, offset: int, end: int) -> list[Aborted]:
        """The aborted transactions that may have batches in [offset, end), by marker; without those
        whose markers are in the head's tail."""
        ...

    async def forget_aborted(
        self, partition: Partition, markers: Sequence[int], below: int = 0
    ) -> None:
        """Forget these aborted transactions: compaction has removed all of their batches, and those
        of all whose markers are below `below`. None of them is listed any more, although a process
        that stood still may store one again."""
        ...

    async def advance_start(self, partition: Partition, offset: int) -> Head:
        """Raise log_start to `offset`; it never goes back and never passes the next offset."""
        ...

    async def drop_extents(self, partition: Partition, below: int) -> int:
        """Remove the extents that end at or below `below`, and forget the aborted transactions
        whose markers are below it; how many extents."""
        ...

    async def watch(self, partition: Partition, watcher: str, expires_at: int) -> Head:
        """Add or renew a watcher, and drop those that expired some time ago."""
        ...

    async def unwatch(self, partition: Partition, watcher: str) -> None: ...

    async def create_topic(self, topic: Topic) -> bool:
        """Create the heads, then the name: that decides. False if the name is taken."""
        ...

    async def topic(self, name: str) -> Topic | None: ...

    async def topic_by_id(self, topic_id: UUID) -> Topic | None: ...

    async def topics(self) -> list[Topic]: ...

    async def change_topic(self, old: Topic, new: Topic) -> bool:
        """Create the heads of added partitions, then replace `old` by `new`: that decides.

        False if the name does not hold `old` any more. Repeating a change that succeeded answers
        True. Partitions and configs change; the name, the id and `created_at` never do.
        """
        ...

    async def delete_topic(self, topic: Topic) -> bool:
        """Remove the name and store the topic as doomed, in one step. False: it was gone."""
        ...

    async def doomed_topics(self) -> list[Topic]: ...

    async def forget_topic(self, topic: Topic) -> None:
        """Remove every item of a doomed topic, the doom last. Its objects are gone already."""
        ...

    async def forget_producers(self, now_ms: int) -> int:
        """Remove producers' states that have expired; how many. 0 if the store does so by
        itself."""
        ...

    async def next_producer_ids(self, count: int) -> int:
        """Reserve `count` producer ids; returns the first."""
        ...

    async def cluster_id(self, proposed: str) -> str:
        """The cluster's id: the first one that was ever proposed."""
        ...

    async def nodes(self) -> list[Node]:
        """The processes that announced themselves, by id; also those that have ended since."""
        ...

    async def put_node(self, node: Node, after: Node | None) -> bool:
        """Compare-and-swap: store the node if the one with its id is `after`, by owner and version
        (None: there is none).

        False if it was another. Repeating a put that succeeded answers True.
        """
        ...

    async def remove_node(self, node: Node) -> None:
        """Remove it, unless another process has the id by now. A missing one is no error."""
        ...

    async def close(self) -> None: ...
