"""The store of consumer groups."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from .offsets import Offsets
from .security import SecurityStore
from .transactions import Transactions


class GroupItem(NamedTuple):
    """A consumer group as the coordinator left it."""

    version: int
    state: bytes


class Groups(Transactions, SecurityStore, Protocol):
    """Consumer groups, their offsets, transactions, and the entries of access control, beside the
    log in the same DynamoDB or SQLite."""

    calls: dict[str, int]

    async def group(self, group_id: str, known: int = 0) -> GroupItem | None:
        """The group. If its version is `known`, the state may be left out (empty), to save cost."""
        ...

    def is_current(self, group_id: str, version: int) -> bool:
        """Whether this version is certainly the stored one, without a call. Only a store that no
        other process uses can know that. False: not known."""
        ...

    async def put_group(self, group_id: str, item: GroupItem, after: int) -> bool:
        """Store the item if the version that is there is `after` (0: there is none).

        False if it was another one. Repeating a put that succeeded answers True. The caller must
        never use a version twice, not even for a group that was deleted and created again.
        """
        ...

    async def delete_group(self, group_id: str, version: int) -> bool:
        """Delete its state (version 0: it has none) and all its offsets, pending ones too, if the
        version is still this one."""
        ...

    async def forget_group(self, group_id: str, version: int, now_ms: int) -> bool:
        """For upkeep: delete its state, if the version is still this one and there are no offsets,
        neither committed nor pending. What comes meanwhile stays, and the group with it."""
        ...

    async def group_ids(self) -> list[str]:
        """The ids of all groups that have state or offsets, in order."""
        ...

    async def commit(self, group_id: str, generation: int, offsets: Offsets) -> bool:
        """Store the offsets, unless a newer generation has committed: False, and none is stored.

        The newest generation that committed is stored for each partition. Generation −1 (from
        non-members) is never refused and does not change that. One write, whatever the number of
        partitions (up to a hundred topics on DynamoDB).
        """
        ...

    async def offsets(self, group_id: str, now_ms: int) -> Offsets:
        """All offsets that have not expired."""
        ...

    async def delete_offsets(
        self, group_id: str, partitions: Sequence[tuple[str, int]], before: int | None = None
    ) -> None:
        """Deleting a missing offset is no error. Offsets committed at `before` or later stay.
        Without `before`, pending offsets for these partitions go too."""
        ...

    async def forget_topic(self, name: str, before: int) -> None:
        """Delete every group's offsets for the topic, pending ones too, except those committed at
        `before` or later."""
        ...

    async def close(self) -> None: ...
