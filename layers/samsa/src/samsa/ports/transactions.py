"""The store of transactions, and of the offsets that wait for them."""

from typing import NamedTuple, Protocol

from .offsets import Offsets


class TransactionItem(NamedTuple):
    """A transactional id as the coordinator left it."""

    version: int
    producer_id: int
    state: bytes


class PendingOffsets(NamedTuple):
    """Offsets that a group's member committed in a transaction that has not ended."""

    producer_id: int
    serial: int
    """Of the transaction: the producer counts them."""
    offsets: Offsets


class Transactions(Protocol):
    """Transactional ids and pending offsets, beside the groups in the same DynamoDB or SQLite."""

    async def transaction(self, transactional_id: str, known: int = 0) -> TransactionItem | None:
        """The item. If its version is `known`, the state may be left out (empty), to save cost."""
        ...

    def is_current_transaction(self, transactional_id: str, version: int) -> bool:
        """Whether this version is certainly the stored one, without a call; as
        `Groups.is_current`."""
        ...

    async def put_transaction(
        self, transactional_id: str, item: TransactionItem, after: int
    ) -> TransactionItem | None:
        """Compare-and-swap: store the item if the version that is there is `after` (0: there is
        none). None if it was stored; repeating a put that succeeded answers None too. Otherwise
        the item that is there; if it was deleted meanwhile, one with version 0.

        The caller must never use a version twice, not even for an id that was deleted and created
        again.
        """
        ...

    async def transactional_id_of(self, producer_id: int) -> str | None:
        """The transactional id that was last given this producer id."""
        ...

    async def transactional_ids(self) -> list[str]:
        """All of them, in order."""
        ...

    async def delete_transaction(self, transactional_id: str, version: int) -> bool:
        """False if its version is another by now. Deleting a missing one is no error."""
        ...

    async def add_pending(
        self, group_id: str, producer_id: int, serial: int, offsets: Offsets, expires_at: int
    ) -> bool:
        """Store offsets that become the group's when the transaction is committed. They replace
        pending offsets of the same producer for the same partitions. False: that transaction, or a
        later one of the producer, has ended in this group.

        `expires_at` (ms): what is kept after the end, to refuse late calls, may then be forgotten.
        """
        ...

    async def end_pending(
        self, group_id: str, producer_id: int, serial: int, is_committed: bool, expires_at: int
    ) -> None:
        """End the producer's transaction in this group. If it is committed, its pending offsets
        become the group's; else they are removed. Once it has ended, further calls change nothing,
        and `add_pending` is refused: so a late call brings back no older offsets."""
        ...

    async def pending(self, group_id: str) -> list[PendingOffsets]:
        """All that have not ended, by producer id."""
        ...
