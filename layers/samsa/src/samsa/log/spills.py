"""Spilled requests and responses, which nobody needs after a day."""

from uuid import UUID

from samsa.ports import Grave, Partition

from .stores import Stores

SPILL = "spill/"
SPILLS = Partition(UUID(int=0), 0)
"""Not a partition: where the ledger keeps the graves of what belongs to none."""
KEPT_MS = 24 * 3_600_000
AT_ONCE = 500
ALL = 100_000


async def sweep_spills(stores: Stores) -> None:
    """Objects do not say how old they are: they are a day old a day after they were first seen."""
    now, seen = stores.clock.now_ms(), set[str]()
    for grave in await stores.ledger.graves(SPILLS, ALL):
        if now - grave.since < KEPT_MS:
            seen.update(grave.keys)
            if grave.since > now + KEPT_MS:  # the clock was set back: its day begins again
                await stores.ledger.condemn(SPILLS, grave.name, now)
        else:
            await stores.objects.delete(grave.keys)
            await stores.ledger.forget_grave(SPILLS, grave.name)
    fresh = [key async for key in stores.objects.list(SPILL) if key not in seen]
    for start in range(0, len(fresh), AT_ONCE):
        some = tuple(fresh[start : start + AT_ONCE])
        await stores.ledger.announce(SPILLS, Grave(some[0], 0, 0, some, now))
