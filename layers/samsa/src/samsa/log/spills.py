"""Deletes spilled requests and responses after a day."""

from uuid import UUID

from samsa.ports import Partition, PendingDeletion

from .stores import Stores

SPILL = "spill/"
SPILLS = Partition(UUID(int=0), 0)
"""Not a real partition: under it the ledger keeps the pending deletions of objects that belong to
no partition."""
KEPT_MS = 24 * 3_600_000
AT_ONCE = 500
ALL = 100_000


async def sweep_spills(stores: Stores) -> None:
    """The age of an object is not known: the day counts from when it was first seen."""
    now, seen = stores.clock.now_ms(), set[str]()
    for deletion in await stores.ledger.pending_deletions(SPILLS, ALL):
        if now - deletion.since < KEPT_MS:
            seen.update(deletion.keys)
            if deletion.since > now + KEPT_MS:  # the clock was set back: its day starts again
                await stores.ledger.condemn(SPILLS, deletion.name, now)
        else:
            await stores.objects.delete(deletion.keys)
            await stores.ledger.forget_deletion(SPILLS, deletion.name)
    fresh = [key async for key in stores.objects.list(SPILL) if key not in seen]
    for start in range(0, len(fresh), AT_ONCE):
        some = tuple(fresh[start : start + AT_ONCE])
        await stores.ledger.announce(SPILLS, PendingDeletion(some[0], 0, 0, some, now))
