"""The store of consumer groups."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias


class GroupItem(NamedTuple):
    """A consumer group as the coordinator left it."""

    version: int
    state: bytes


class Committed(NamedTuple):
    """A group's offset for one partition."""

    offset: int
    leader_epoch: int
    metadata: str
    committed_at: int
    expires_at: int
    """Milliseconds; 0 for never."""


Offsets: TypeAlias = dict[tuple[str, int], Committed]
"""By topic name and partition, as clients name them."""


class Groups(Protocol):
    """Consumer groups and their offsets, beside the log in the same DynamoDB or SQLite."""

    calls: dict[str, int]

    async def group(self, group_id: str, known: int = 0) -> GroupItem | None:
        """Without the state (empty) where that is cheaper and the version is the `known` one."""
        ...

    def is_current(self, group_id: str, version: int) -> bool:
        """Whether this version is stored, as far as that is known without asking: only of a store
        that nobody else uses. False says nothing."""
        ...

    async def put_group(self, group_id: str, item: GroupItem, after: int) -> bool:
        """Store the item if the version that is there is `after` (0: there is none).

        False if it was another one. Repeating a put that succeeded answers True. The caller sees to
        it that no version is ever used twice, not even by a group that was deleted and made anew.
        """
        ...

    async def delete_group(self, group_id: str, version: int) -> bool:
        """Its state (version 0: it has none) and all its offsets, unless the version has moved."""
        ...

    async def group_ids(self) -> list[str]:
        """Of every group that has state or offsets, in order."""
        ...

    async def commit(self, group_id: str, generation: int, offsets: Offsets) -> bool:
        """Store the offsets, unless a newer generation has committed: False, and none is stored.

        Every partition remembers the newest generation that committed it. Generation −1, of
        whoever is no member, is never refused and leaves what is remembered. One write, whatever
        the number of partitions (up to a hundred topics on DynamoDB).
        """
        ...

    async def offsets(self, group_id: str, now_ms: int) -> Offsets:
        """All of them that have not expired."""
        ...

    async def delete_offsets(
        self, group_id: str, partitions: Sequence[tuple[str, int]], before: int | None = None
    ) -> None:
        """Deleting what is not there is no error. What was committed at `before` or later stays."""
        ...

    async def forget_topic(self, name: str, before: int) -> None:
        """Every group's offsets for the topic, but for those committed at `before` or later."""
        ...

    async def close(self) -> None: ...
