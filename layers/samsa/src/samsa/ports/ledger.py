"""The ledger: what is decided about topics and partitions, one step at a time."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from .extents import Extent, Grave
from .journal import Bound
from .nodes import Node
from .partitions import Head, Partition, Topic


class Ledger(Protocol):
    """DynamoDB or SQLite. `calls` counts each method by name, for pinning what a request costs."""

    calls: dict[str, int]

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

    async def extent_at_time(self, partition: Partition, timestamp: int) -> Extent | None:
        """The first extent, at or above log_start, whose max_timestamp ≥ `timestamp`."""
        ...

    async def newest_extent(self, partition: Partition) -> Extent | None:
        """The extent with the greatest max_timestamp (the first of equals)."""
        ...

    async def producers(self, partition: Partition, now: int) -> dict[int, Bound]:
        """Every producer's state that may not be forgotten yet, by producer id. Read it after
        the head: what the head shows was bound before."""
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
        """Remove producers' states that may be forgotten by now; how many. 0 where a store does so
        by itself."""
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
