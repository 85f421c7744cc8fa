"""A partition's index, and what left it."""

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
    """Of the object; empty if the bytes are in `data`."""
    marks: tuple[tuple[int, int], ...] = ()
    """Sparse index of several batches: (offset − base, position) of some of them."""
    records: int = -1
    """Records in it; −1 where they were not counted."""
    start: int = 0
    """Where it begins in its object, which may hold others too."""
    times: tuple[int, ...] = ()
    """Of a segment: the greatest timestamp before each mark."""
    shift: int = 0
    """What readers add to the offsets in the stored batches: the writer guessed them before the
    commit decided."""
    data: bytes = b""
    """The bytes themselves, if they are small enough to be kept in the ledger."""
    id: str = ""
    """Of the append, while a writer may have to find out whether it was committed."""

    @property
    def end(self) -> int:
        return self.base + self.offsets


class Grave(NamedTuple):
    """Objects on their way out. The ledger remembers them until they are deleted."""

    name: str
    base: int
    end: int
    """The offsets that were in them."""
    keys: tuple[str, ...] = ()
    """Objects that go, if no extent names them."""
    since: int = 0
    """When it was first found to be so (ms); 0 if it was not looked at yet."""
    announced: bool = False
    """Of an object that is still being written: it goes unless it comes into the index."""


KEYS_PER_GRAVE = 1_000
"""So that it fits into one item."""


def graves_of(old: Sequence[Extent], new: Sequence[Extent]) -> list[Grave]:
    """Of the objects that a swap takes out of the index.

    Each is named by a new object, and so no other swap has the same names. The first also stands
    for the extents themselves: a ledger may have to remove them after the swap.
    """
    kept = {extent.key for extent in new}
    gone = sorted({extent.key for extent in old if extent.key} - kept)
    fresh = kept - {extent.key for extent in old}
    if not gone and not fresh:
        return []
    name = f"after {min(fresh or kept)}"
    chunks = [gone[at : at + KEYS_PER_GRAVE] for at in range(0, len(gone), KEYS_PER_GRAVE)]
    return [
        Grave(f"{name} {number}" if number else name, old[0].base, old[-1].end, tuple(keys))
        for number, keys in enumerate(chunks or [[]])
    ]
