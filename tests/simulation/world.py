"""One schedule: stores, processes, actors, and a seed that decides everything."""

import asyncio
import gc
import logging
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from inspect import isgenerator
from random import Random
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from samsa.log.read import OutOfRange
from samsa.ports import Missing, Partition, Unavailable, UnknownPartition
from samsa.records import BatchHeader

from .actors import actors
from .events import Event, story
from .loop import Stuck, VirtualLoop
from .paths import watch_paths
from .process import Process
from .rules import SOUND, Rules
from .setting import Setting
from .truth import Truth, Violation
from .weather import Fault, Weather

T = TypeVar("T")
EXPECTED = (Unavailable, Missing, UnknownPartition)
LONGEST_SLEEP = 8
"""In times of fence_after."""
HEAL_S = 300
TOO_MANY_EVENTS = 60_000


class Finished(NamedTuple):
    seed: int
    events: list[Event]
    paths: Counter[str]
    violation: str | None

    def story(self, events: int = 40) -> str:
        """How it ended."""
        return story(self.seed, self.violation, self.events[-events:])


@dataclass
class World:
    """What all processes and actors of a schedule share."""

    seed: int
    loop: VirtualLoop
    rules: Rules = SOUND
    events: list[Event] = field(default_factory=list)
    paths: Counter[str] = field(default_factory=Counter)
    graves: list[Any] = field(default_factory=list)
    """Calls of crashed processes: kept, so that nothing tidies them up."""
    violation: str | None = None
    finished: bool = False
    """The writers are done: readers and janitors go home."""

    def __post_init__(self) -> None:
        self.rng = Random(self.seed)
        self.setting = Setting.of(self.rng, self.seed)
        self.weather = Weather.of(self.rng)
        self.truth = Truth(self.setting.retention.max_bytes)
        self.objects = self.rules.objects(self.truth)
        self.ledger = self.rules.ledger(self.truth, self.setting.two_steps)
        self.partitions = [Partition(UUID(int=1), n) for n in range(self.setting.partitions)]
        for partition in self.partitions:
            self.ledger.make(partition)
            self.truth.watch(partition, self.objects.held)
        self.stopped: asyncio.Future[None] = self.loop.create_future()
        self._nonces = self._starts = 0
        self.processes = [self._start() for _ in range(self.setting.processes)]

    def nonce(self) -> str:
        self._nonces += 1
        return f"n{self._nonces}"

    # Processes

    def _start(self) -> Process:
        self._starts += 1
        process = Process(self, f"p{self._starts}")
        watch_paths(process.log, self.paths)
        self.rules.break_log(process.log)
        return process

    def replace(self, dead: Process) -> None:
        self.processes.remove(dead)
        self.graves.append(dead)
        self.loop.call_later(self.rng.uniform(0, 2), self._restart)

    def _restart(self) -> None:
        process = self._start()
        self.note(process.name, "starts")
        if self.setting.processes == 1:
            self.spawn(process.log.close_orphans(self.partitions))
        self.processes.append(process)

    async def pick(self) -> Process:
        """Some process that lives, once there is one."""
        while not self.processes:  # noqa: ASYNC110 - as clients do
            await asyncio.sleep(0.1)
        return self.rng.choice(self.processes)

    # Effects, each of which the truth judges at once

    def effect(
        self,
        who: str,
        name: str,
        method: Callable[..., Any],
        args: tuple[Any, ...],
        fault: Fault | None = None,
    ) -> Any:
        try:
            answer = method(*args)
        except Violation as violation:
            self.note(who, name, args, violation)
            self.fail(str(violation))
            raise
        except EXPECTED as error:
            self.note(who, name, args, error)
            raise
        self.note(who, name, args, None if isgenerator(answer) else answer, fault)
        return answer

    def step(self, who: str, name: str, steps: Any, fault: Fault | None = None) -> tuple[bool, Any]:
        """One step of a call that has several: whether it was the last, and its answer then."""
        try:
            next(steps)
        except StopIteration as end:
            self.note(who, name, end.value, fault)
            return True, end.value
        except Violation as violation:
            self.note(who, name, violation)
            self.fail(str(violation))
            raise
        return False, None

    def later(self, who: str, name: str, method: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """The caller was told that nothing is known; it happens all the same."""
        delay = self.rng.choice((0.01, self.setting.fence_after_ms / 250))
        self.loop.call_later(self.rng.random() * delay, self._late, who, name, method, args)

    def _late(self, who: str, name: str, method: Callable[..., Any], args: tuple[Any, ...]) -> None:
        try:
            answer = self.effect(f"{who} late", name, method, args)
            while isgenerator(answer) and not self.step(f"{who} late", name, answer)[0]:
                pass
        except (Violation, *EXPECTED):
            pass

    # Telling

    def note(self, *what: Any) -> None:
        self.events.append((self.loop.time(), what))
        if len(self.events) > TOO_MANY_EVENTS:
            self.fail("the schedule does not end")

    def fail(self, why: str) -> None:
        if self.violation is None:
            self.violation = why
            if not self.stopped.done():
                self.stopped.set_result(None)

    def acknowledged(self, partition: Partition, offset: int, sent: BatchHeader) -> None:
        self.judged(lambda: self.truth.acknowledged(partition, offset, sent))

    def judged(self, judge: Callable[[], T]) -> T:
        try:
            return judge()
        except Violation as violation:
            self.fail(str(violation))
            raise

    def require(self, holds: bool, what: str) -> None:
        if not holds:
            self.fail(what)
            raise Violation(what)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        task = self.loop.create_task(work)
        self.watch(task)
        return task

    def watch(self, future: "asyncio.Future[Any]") -> None:
        self.graves.append(future)
        future.add_done_callback(self._ended)

    def _ended(self, future: "asyncio.Future[Any]") -> None:
        error = None if future.cancelled() else future.exception()
        if error is not None and not isinstance(error, (*EXPECTED, OutOfRange, Violation)):
            self.fail(f"{type(error).__name__} came out of the log: {error}")

    # The whole of it

    async def run(self) -> None:
        story = self.spawn(self._play())
        await asyncio.wait({story, self.stopped}, return_when=asyncio.FIRST_COMPLETED)
        if story.done():
            story.result()

    async def _play(self) -> None:
        cast = actors(self)
        writers = [self.spawn(work) for work in cast.writers]
        others = [self.spawn(work) for work in cast.others]
        await asyncio.wait(writers, timeout=self.setting.storm_s)
        self.note("the sky clears")
        self.weather.calm = True
        await self._within(writers, "a writer hangs")
        self.finished = True
        await self._within(others, "a reader, a fencer or a janitor hangs")
        await self._rest()
        inspections = [self.spawn(inspector.run()) for inspector in cast.inspectors]
        await self._within(inspections, "the log cannot be read")
        await self._rest()

    async def _rest(self) -> None:
        """Until the last sleeper is awake and done, and whatever it left open is stale."""
        await asyncio.sleep(LONGEST_SLEEP * self.setting.fence_after_ms / 1000)
        drains = [self.spawn(process.log.drain()) for process in self.processes]
        await self._within(drains, "a process does not come to rest")
        await asyncio.sleep(LONGEST_SLEEP * self.setting.fence_after_ms / 1000)

    async def _within(self, tasks: list["asyncio.Task[Any]"], complaint: str) -> None:
        _, pending = await asyncio.wait(tasks, timeout=HEAL_S) if tasks else (None, None)
        self.require(not pending, complaint)
        for task in tasks:
            task.result()


class Alarm(logging.Handler):
    """Work that fails in the background is a violation too."""

    world: World | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self.world is not None:
            error = record.exc_info[1] if record.exc_info else None
            if not isinstance(error, Violation):
                self.world.fail(f"{record.getMessage()}: {error!r}")


ALARM = Alarm(logging.ERROR)
logging.getLogger("samsa.log").addHandler(ALARM)


def run(seed: int, rules: Rules = SOUND) -> Finished:
    """Play the schedule of a seed. The same seed gives the same events, in the same order."""
    loop = VirtualLoop()
    was_collecting = gc.isenabled()
    gc.disable()
    world = ALARM.world = World(seed, loop, rules)
    try:
        loop.run_until_complete(world.run())
    except (Stuck, Violation, OutOfRange, *EXPECTED) as error:
        world.fail(f"{type(error).__name__}: {error}")
    except RuntimeError:
        if loop.mishap is None:
            raise
        raise loop.mishap from None
    finally:
        ALARM.world = None
        loop.bury()
        if was_collecting:
            gc.enable()
    return Finished(seed, world.events, world.paths, world.violation)
