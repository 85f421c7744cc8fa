"""The life of a group: it gathers, one more joins and leaves, again and again."""

import asyncio
from dataclasses import dataclass, field

from .group import Group

BEAT_S = 0.1
"""Members hear of a rebalance from their heartbeats: often, so that the broker's part is seen."""
PAUSE_S = 0.25
"""Between rebalances. No multiple of the above, or chance decides how near a heartbeat is."""


@dataclass(frozen=True, slots=True)
class Life:
    """In milliseconds."""

    gathered: float
    joins: list[float] = field(default_factory=list)
    leaves: list[float] = field(default_factory=list)


async def live(group: Group, size: int, rounds: int, patience_s: float) -> Life:
    await group.invite(size, BEAT_S)
    life = Life(1000 * await group.join(patience_s))
    for _ in range(rounds):
        await group.invite(1, BEAT_S)
        await asyncio.sleep(PAUSE_S)
        life.joins.append(1000 * await group.join(patience_s))
        await asyncio.sleep(PAUSE_S)
        life.leaves.append(1000 * await group.leave(patience_s))
    return life
