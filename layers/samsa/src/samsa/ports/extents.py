"""A partition's index, and what left it."""

from collections.abc import Sequence
from typing import NamedTuple


class Extent(NamedTuple):
    """The index entry of a stored slot or segment: [base, base + offsets)."""

    base: int
    offsets: int
    size: int
    max_timestamp: int
    stored_at: int
    key: str
    marks: tuple[tuple[int, int], ...] = ()
    """Sparse index of a slot with several batches: (offset − base, position) of some of them."""
    records: int = -1
    """Records in it; 0 for filler, −1 where nobody counted."""
    start: int = 0
    """Where it begins in its object, which may hold others too."""
    times: tuple[int, ...] = ()
    """Of a segment: the greatest timestamp before each mark."""

    @property
    def end(self) -> int:
        return self.base + self.offsets


class Grave(NamedTuple):
    """Objects on their way out. The ledger remembers them until they are deleted."""

    name: str
    base: int
    end: int
    """Slots of [base, end) that no extent names go;"""
    keys: tuple[str, ...] = ()
    """and so do these objects, if no extent names them."""
    since: int = 0
    """When it was first found to be so (ms); 0 if nobody has looked yet."""
    announced: bool = False
    """Of an object that is still being written: it goes unless it comes into the index."""


def grave_of(old: Sequence[Extent], new: Sequence[Extent]) -> Grave | None:
    """Of the objects that a swap takes out of the index; of those that are slots by their range.

    Its name is that of a new object, and so no other swap's.
    """
    kept = {extent.key for extent in new}
    gone = {extent.key for extent in old} - kept
    if not gone:
        return None
    fresh = kept - {extent.key for extent in old}
    slots = {extent.key for extent in old if is_slot_key(extent.key, extent.base)}
    name = f"after {min(fresh or kept)}"
    return Grave(name, old[0].base, old[-1].end, tuple(sorted(gone - slots)))


def is_slot_key(key: str, base: int) -> bool:
    return key.endswith(f"/{base:020d}")
