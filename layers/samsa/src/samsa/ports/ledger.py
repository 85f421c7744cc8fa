"""The ledger: what is decided about topics, partitions and producers, one step at a time."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol
from uuid import UUID

from .extents import Extent, Grave
from .nodes import Node
from .partitions import Head, Partition, Topic


class Confirmed(NamedTuple):
    head: Head
    was_open: bool
    """False: someone else closed the slot. What it holds must be looked at before any answer."""


class Bound(NamedTuple):
    """An idempotent producer's item on one partition: opaque to the ledger but for its version."""

    version: int
    state: bytes


class Ledger(Protocol):
    """DynamoDB or SQLite. `calls` counts each method by name, for pinning what a request costs."""

    calls: dict[str, int]

    async def reserve(self, partition: Partition, token: str, count: int) -> Head:
        """Advance the counter by `count` and open a slot at its old value, in one step.

        The base is `head.inflight[token]` of the returned head. A token that is open already is not
        opened twice: the head then shows the base it got first. Raises UnknownPartition.
        """
        ...

    async def confirm(self, partition: Partition, token: str, extent: Extent) -> Confirmed:
        """Close the slot if it is open; then, if this call closed it, add the extent if absent.

        Only the slot at the extent's base: a reserve that comes again after its slot was closed
        opens another one under the same token.
        Two steps on DynamoDB: a slot may end up closed and not indexed, which readers repair.
        """
        ...

    async def head(self, partition: Partition) -> Head: ...

    async def index(self, partition: Partition, extent: Extent) -> None:
        """Add the extent, unless one that holds any of its offsets is there.

        So nobody who is late brings back what was merged since.
        """
        ...

    async def replace_extents(
        self, partition: Partition, old: Sequence[Extent], new: Sequence[Extent]
    ) -> bool:
        """Put `new` into the place of `old`, a run of neighbours, over the same offsets.

        All or nothing. False if any of `old` is not there exactly as given any more, or if an
        object of `new` that none of `old` is in is not announced (any more). Its grave goes with
        the swap; what only `old` was in has one from then on. Repeating a swap that succeeded
        answers True.
        """
        ...

    async def announce(self, partition: Partition, grave: Grave) -> None:
        """Remember what goes unless something else is decided; one of that name stays as it is."""
        ...

    async def graves(self, partition: Partition, limit: int) -> list[Grave]:
        """Up to `limit` of them, by name."""
        ...

    async def condemn(self, partition: Partition, name: str, since: int) -> bool:
        """The grave counts from `since`, and no swap can save what it announced. False: no grave
        of that name."""
        ...

    async def forget_grave(self, partition: Partition, name: str) -> None:
        """All that was in it is deleted. Forgetting what is not there is no error."""
        ...

    async def cursor(self, partition: Partition, name: str) -> int:
        """Where some work left off; 0 if it never began. A hint: nothing depends on it."""
        ...

    async def move_cursor(self, partition: Partition, name: str, value: int) -> None:
        """To 0: nothing is left of it."""
        ...

    async def extents(self, partition: Partition, offset: int, limit: int) -> list[Extent]:
        """Up to `limit` extents in order, from the first that ends after `offset`."""
        ...

    async def extent_before(self, partition: Partition, offset: int) -> Extent | None:
        """The last extent that ends at or before `offset`."""
        ...

    async def extent_at_time(self, partition: Partition, timestamp: int) -> Extent | None:
        """The first extent, at or above log_start, whose max_timestamp ≥ `timestamp`."""
        ...

    async def newest_extent(self, partition: Partition) -> Extent | None:
        """The extent with the greatest max_timestamp (the first of equals)."""
        ...

    async def producer(self, partition: Partition, producer_id: int) -> Bound | None: ...

    async def producers(self, partition: Partition, now: int) -> dict[int, Bound]:
        """Every producer's item that may not be forgotten yet, by producer id."""
        ...

    async def bind(
        self, partition: Partition, producer_id: int, state: bytes, after: int, expires_at: int
    ) -> bool:
        """Store `state` as version `after + 1` if the item's version is `after` (0: there is none).

        False if it was another version. Repeating a bind that succeeded answers True. `expires_at`
        (ms) is when the item may be forgotten.
        """
        ...

    async def advance_start(self, partition: Partition, offset: int) -> Head:
        """Raise log_start to `offset`; it never goes back and never passes the counter."""
        ...

    async def drop_extents(self, partition: Partition, below: int) -> int:
        """Forget the extents that end at or below `below`; how many."""
        ...

    async def watch(self, partition: Partition, watcher: str, expires_at: int) -> Head:
        """Add or renew a watcher, and drop those that expired more than a while ago."""
        ...

    async def unwatch(self, partition: Partition, watcher: str) -> None: ...

    async def create_topic(self, topic: Topic) -> bool:
        """Make the heads, then the name: the name is the commit. False if the name is taken."""
        ...

    async def topic(self, name: str) -> Topic | None: ...

    async def topic_by_id(self, topic_id: UUID) -> Topic | None: ...

    async def topics(self) -> list[Topic]: ...

    async def change_topic(self, old: Topic, new: Topic) -> bool:
        """Make the heads that `new` has more, then put it in the place of `old`: the commit.

        False if the name does not hold `old` any more. Repeating a change that succeeded answers
        True. Partitions and configs change; the name, the id and the time of birth never do.
        """
        ...

    async def delete_topic(self, topic: Topic) -> bool:
        """Take the name away and remember the topic as doomed, in one step. False: it was gone."""
        ...

    async def doomed_topics(self) -> list[Topic]: ...

    async def forget_topic(self, topic: Topic) -> None:
        """Remove every item of a doomed topic, the doom last. Its objects are gone already."""
        ...

    async def forget_producers(self, now_ms: int) -> int:
        """Remove what `bind` said may be forgotten by now; how many. 0 where a store does so by
        itself."""
        ...

    async def next_producer_ids(self, count: int) -> int:
        """Take `count` producer ids; the first of them."""
        ...

    async def cluster_id(self, proposed: str) -> str:
        """The cluster's id: the first one that was ever proposed."""
        ...

    async def nodes(self) -> list[Node]:
        """The processes that announced themselves, by id; those that have gone since, too."""
        ...

    async def put_node(self, node: Node, after: Node | None) -> bool:
        """Store the node if what has its id is `after`: by owner and version (None: nothing).

        False if it was something else. Repeating a put that succeeded answers True.
        """
        ...

    async def remove_node(self, node: Node) -> None:
        """Unless another process has the id by now. Removing what is not there is no error."""
        ...

    async def close(self) -> None: ...
