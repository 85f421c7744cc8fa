"""Segments (merged or compacted objects): their keys, their writing, and their longest span."""

import re
from collections.abc import AsyncIterator, Callable, Sequence

from samsa.ports import Buffer, Extent, Partition, PendingDeletion

from .stores import Stores, partition_prefix

_SEGMENT = re.compile(r"/\d{20}-\d{20}-[^/]*$")
LONGEST = 2**31
"""Offsets that one extent may span: marks count from its base in 32 bits."""


def segment_key(partition: Partition, base: int, end: int, nonce: str) -> str:
    """A key that no other object has."""
    return f"{partition_prefix(partition)}{base:020d}-{end:020d}-{nonce}"


def is_segment(key: str) -> bool:
    return _SEGMENT.search(key) is not None


async def swap_in(
    stores: Stores,
    partition: Partition,
    old: Sequence[Extent],
    parts: AsyncIterator[Buffer],
    extent_of: Callable[[str], Extent],
) -> Extent | None:
    """Replace neighbouring extents by one new object: announce, write, swap. `extent_of` describes
    the object of a key. None: another process was faster."""
    base, end = old[0].base, old[-1].end
    key = segment_key(partition, base, end, stores.nonce())
    announced = PendingDeletion(key, base, end, (key,), stores.clock.now_ms(), announced=True)
    # No retry: a late one, after the object was swept, would announce an object that is gone.
    await stores.ledger.announce(partition, announced)
    await stores.objects.put_stream(key, parts)
    new = extent_of(key)
    if await stores.retry(stores.ledger.replace_extents, partition, old, [new]):
        return new
    # No later swap can take it: old extents and announcements do not come back.
    await stores.objects.delete([key])
    await stores.ledger.forget_deletion(partition, key)
    return None
