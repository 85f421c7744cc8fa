"""Extents, of which a partition's index is made, and the pending deletions of what left it."""

from collections.abc import Sequence
from typing import NamedTuple


class Extent(NamedTuple):
    """Where [base, base + offsets) is stored: an entry of a head's tail, or of the index."""

    base: int
    offsets: int
    size: int
    max_timestamp: int
    stored_at: int
    key: str
    """The object's key; empty if the bytes are in `data`."""
    marks: tuple[tuple[int, int], ...] = ()
    """Sparse index of several batches: (offset − base, position) of some of them."""
    records: int = -1
    """Number of records; −1 if they were not counted."""
    start: int = 0
    """Where it begins in its object, which may hold others too."""
    times: tuple[int, ...] = ()
    """For each mark, the greatest timestamp before it."""
    shift: int = 0
    """What readers add to the offsets in the stored batches: the writer guessed those offsets
    before the commit decided them."""
    data: bytes = b""
    """The bytes themselves, if they are small enough to be kept in the ledger."""
    id: str = ""
    """The append's id, while its writer may have to find out whether it was committed."""

    @property
    def end(self) -> int:
        return self.base + self.offsets


class PendingDeletion(NamedTuple):
    """Objects to delete. The ledger keeps it until they are deleted."""

    name: str
    base: int
    end: int
    """The offsets that were in them."""
    keys: tuple[str, ...] = ()
    """Objects to delete, if no extent names them."""
    since: int = 0
    """When the grace time began (ms); 0: no sweep has found it yet."""
    announced: bool = False
    """Its object is still being written: it is deleted unless a swap puts it into the index."""


KEYS_PER_DELETION = 1_000
"""So that a pending deletion fits into one item."""


def deletions_of(old: Sequence[Extent], new: Sequence[Extent]) -> list[PendingDeletion]:
    """Pending deletions of the objects that a swap takes out of the index.

    Each is named after a new object, so that no other swap has the same names. The first also
    stands for the extents themselves: a ledger may have to remove them after the swap.
    """
    kept = {extent.key for extent in new}
    gone = sorted({extent.key for extent in old if extent.key} - kept)
    fresh = kept - {extent.key for extent in old}
    if not gone and not fresh:
        return []
    name = f"after {min(fresh or kept)}"
    chunks = [gone[at : at + KEYS_PER_DELETION] for at in range(0, len(gone), KEYS_PER_DELETION)]
    return [
        PendingDeletion(
            f"{name} {number}" if number else name, old[0].base, old[-1].end, tuple(keys)
        )
        for number, keys in enumerate(chunks or [[]])
    ]
