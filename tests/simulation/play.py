"""One schedule, from its seed to its end."""

import asyncio
import gc
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from .bounds import patched
from .events import Event, story
from .loop import Stuck, VirtualLoop
from .process import LONGEST_SLEEP, Process
from .rules import SOUND, Rules
from .truth import Violation
from .world import World

HEAL_S = 300


class Finished(NamedTuple):
    seed: int
    events: list[Event]
    paths: "Counter[str]"
    violation: str | None

    def story(self, events: int = 40) -> str:
        """How it ended."""
        return story(self.seed, self.violation, self.events[-events:])


def run(seed: int, rules: Rules = SOUND) -> Finished:
    """Play the schedule of a seed. The same seed gives the same events, in the same order."""
    loop = VirtualLoop()
    world = World(seed, loop, rules)
    with _alarmed(world), _uncollected(), patched(world):
        try:
            loop.run_until_complete(_until_it_ends(world))
        except (Stuck, Violation) as error:
            world.fail(str(error))
        except RuntimeError:
            raise loop.mishap or RuntimeError from None
        finally:
            loop.bury()
            world.packs.remove()
    finished = Finished(seed, world.events, world.paths, world.violation)
    _release(world)
    return finished


def _release(world: World) -> None:
    """Most of it is free at once then, and not only when garbage is collected."""
    dead = [one for one in world.ended if isinstance(one, Process)]
    for process in (*world.processes, *dead):
        vars(process.log).clear()
        vars(process).clear()
    vars(world).clear()


async def _until_it_ends(world: World) -> None:
    """To the end, or to the first violation."""
    play = world.spawn(_play(world))
    await asyncio.wait({play, world.stopped}, return_when=asyncio.FIRST_COMPLETED)


async def _play(world: World) -> None:
    cast = world.rules.cast(world)
    writers = [world.spawn(work) for work in cast.writers]
    others = [world.spawn(work) for work in cast.others]
    await asyncio.wait(writers, timeout=world.setting.storm_s)
    world.note("the sky clears")
    world.weather.calm = True
    await _within(world, writers, "a writer hangs")
    world.finished = True
    await _within(world, others, "a reader or a janitor hangs")
    await _rest(world)
    await _within(world, [world.spawn(one.run()) for one in cast.last], "a transaction hangs")
    inspections = [world.spawn(inspector.run()) for inspector in cast.inspectors]
    await _within(world, inspections, "the log cannot be read")
    await _rest(world)


async def _rest(world: World) -> None:
    """Until the last sleeper is awake and done."""
    longest = LONGEST_SLEEP * world.setting.long_ms / 1000
    await asyncio.sleep(longest)
    drains = [world.spawn(process.log.drain()) for process in world.processes]
    await _within(world, drains, "a process does not come to rest")
    await asyncio.sleep(longest)


async def _within(world: World, tasks: list["asyncio.Task[Any]"], complaint: str) -> None:
    done, pending = await asyncio.wait(tasks, timeout=HEAL_S) if tasks else ((), ())
    world.require(not pending, complaint)
    for task in done:
        world.require(task.exception() is None, f"{complaint}: {task.exception()}")


class Alarm(logging.Handler):
    """Work that fails in the background is a violation too."""

    def __init__(self, world: World) -> None:
        super().__init__(logging.ERROR)
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, Violation):
            self._world.fail(f"{record.getMessage()}: {error!r}")


@contextmanager
def _alarmed(world: World) -> Iterator[None]:
    log, alarm = logging.getLogger("samsa"), Alarm(world)
    log.addHandler(alarm)
    try:
        yield
    finally:
        log.removeHandler(alarm)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Collecting garbage takes a third of the time, and runs what a crash would not."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
