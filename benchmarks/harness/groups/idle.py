"""Members that only beat: what they cost the broker."""

import asyncio
import time
from collections.abc import Sequence

from harness.process import ToolFailed
from harness.usage import CpuMeter

from .group import Group

BEAT_S = 3.0
"""As Java's and librdkafka's consumers do by default."""
REST_S = 10.0
"""After the last rebalance, so that neither it nor what follows it is part of the cost."""
ENOUGH = 0.9


async def cpu_percent(
    pid: int, groups: Sequence[Group], size: int, seconds: float, patience_s: float
) -> float:
    """Of one core, all that the broker does included."""
    for group in groups:
        await group.invite(size, BEAT_S)
    await asyncio.gather(*(group.join(patience_s) for group in groups))
    await asyncio.sleep(REST_S)
    before, generations = _beats(groups), _generations(groups)
    meter, started = CpuMeter(pid), time.perf_counter()
    await asyncio.sleep(seconds)
    spent, took = meter.lap(), time.perf_counter() - started
    _check(_beats(groups) - before, len(groups) * size * took / BEAT_S)
    if _generations(groups) != generations:
        raise ToolFailed("a group rebalanced while its members were idle")
    return 100 * spent / took


def _beats(groups: Sequence[Group]) -> int:
    return sum(member.beats for group in groups for member in group.members)


def _generations(groups: Sequence[Group]) -> list[int]:
    return [member.epoch for group in groups for member in group.members]


def _check(answered: int, due: float) -> None:
    if answered < ENOUGH * due:
        raise ToolFailed(f"only {answered} of {due:.0f} heartbeats were answered")
