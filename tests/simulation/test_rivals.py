"""Two producers with one transactional id, at the same moment."""

import asyncio
from dataclasses import replace

from simulation.loop import VirtualLoop
from simulation.rules import Rules
from simulation.setting import Setting
from simulation.test_tools import Always
from simulation.world import World

from samsa.transactions import Init

TIMEOUT_MS = 1_000


def two_processes(setting: Setting) -> Setting:
    return replace(setting, processes=2)


def test_two_producers_that_take_an_id_in_the_same_millisecond_get_different_epochs():
    world = World(0, VirtualLoop(), Rules(tune=two_processes))
    world.weather = Always(None)
    for process in world.processes:
        process._pace = process._skew_ms = 0

    async def race() -> list[tuple[int, int]]:
        first, second = (process.coordinator for process in world.processes)
        await first.ask("t", Init(TIMEOUT_MS))
        await second.look("t")
        answers = await asyncio.gather(
            first.ask("t", Init(TIMEOUT_MS)), second.ask("t", Init(TIMEOUT_MS))
        )
        return [(answer.producer_id, answer.epoch) for answer in answers]

    given = world.loop.run_until_complete(race())
    world.loop.bury()
    assert given[0] != given[1]
