"""What the processes and actors of a schedule share: stores, a seed, and an eye on everything."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from random import Random
from types import GeneratorType
from typing import Any, TypeVar
from uuid import UUID

from samsa.local.sqlite import SweepsMoved
from samsa.ports import Missing, Partition, Unavailable
from samsa.records import BatchHeader

from .committed import Sections
from .events import Event
from .loop import VirtualLoop
from .packs import PackFolder
from .paths import watch_expiry, watch_paths
from .process import Process
from .rules import SOUND, Rules
from .setting import Setting
from .truth import Violation
from .weather import Fault, Weather

T = TypeVar("T")
TOO_MANY_EVENTS = 60_000
FAILURES = (Violation, Missing, SweepsMoved)
"""Of a store, or of the judge."""


@dataclass
class World:
    seed: int
    loop: VirtualLoop
    rules: Rules = SOUND
    events: list[Event] = field(default_factory=list)
    paths: Counter[str] = field(default_factory=Counter)
    ended: list[Any] = field(default_factory=list)
    """Calls of crashed processes: kept, so that nothing tidies them up."""
    violation: str | None = None
    finished: bool = False
    """The writers are done: readers and janitors go home."""

    def __post_init__(self) -> None:
        self.rng = Random(self.seed)
        self.setting = self.rules.tune(Setting.of(self.rng, self.seed))
        self.weather = Weather.of(self.rng)
        if self.setting.transactional:
            self.weather.over_transactions(self.rng)
        promised = 0 if self.setting.deleters else self.setting.retention.max_bytes
        self.truth = self.rules.truth(promised)
        self.packs = PackFolder()
        self.objects = self.rules.objects(self.truth, self.packs)
        self.ledger = self.rules.ledger(self.truth, self.setting.remote)
        self.transactions = self.rules.transactions(self.truth.decisions)
        self.partitions = [Partition(UUID(int=1), n) for n in range(self.setting.partitions)]
        for partition in self.partitions:
            self.ledger.make(partition)
            item = self.ledger.item(partition)
            self.truth.watch(partition, self.objects.read, item.readable, Sections(item))
        self.stopped: asyncio.Future[None] = self.loop.create_future()
        self._nonces = self._starts = 0
        self._producer_ids = 1_000
        self.processes = [self._start() for _ in range(self.setting.processes)]

    def nonce(self) -> str:
        self._nonces += 1
        return f"n{self._nonces}"

    async def next_producer_id(self) -> int:
        self._producer_ids += 1
        return self._producer_ids

    # Processes

    def _start(self) -> Process:
        self._starts += 1
        process = Process(self, f"p{self._starts}")
        watch_paths(process.log, self.paths)
        watch_expiry(process.coordinator, self.paths)
        self.rules.break_log(process.log)
        self.rules.break_coordinator(process.coordinator)
        return process

    def replace(self, dead: Process) -> None:
        self.processes.remove(dead)
        self.ended.append(dead)
        self.loop.call_later(self.rng.uniform(0, 2), self._restart)

    def _restart(self) -> None:
        process = self._start()
        self.note(process.name, "starts")
        self.processes.append(process)

    async def pick(self) -> Process:
        """Some process that lives, once there is one."""
        while not self.processes:  # noqa: ASYNC110 - as clients do
            await asyncio.sleep(0.1)
        return self.rng.choice(self.processes)

    def keys(self, partition: Partition) -> set[str]:
        """Of the objects that readers come to."""
        return {extent.key for extent in self.ledger.item(partition).readable()}

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
        except FAILURES as error:
            if isinstance(error, Violation):
                self.fail(str(error))
            self.note(who, name, args, repr(error))
            raise
        several = type(answer) is GeneratorType
        self.note(who, name, args, None if several else answer, fault)
        return answer

    def step(self, who: str, name: str, steps: Any, fault: Fault | None = None) -> tuple[bool, Any]:
        """One step of a call that has several: whether it was the last, and its answer then."""
        try:
            self.judged(lambda: next(steps))
        except StopIteration as end:
            self.note(who, name, end.value, fault)
            return True, end.value
        return False, None

    def later(self, who: str, name: str, method: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """The caller was told that nothing is known; it happens all the same."""
        delay = self.rng.choice((0.01, 0.2, self.setting.long_ms / 250))
        self.loop.call_later(self.rng.random() * delay, self._late, who, name, method, args)

    def _late(self, who: str, name: str, method: Callable[..., Any], args: tuple[Any, ...]) -> None:
        try:
            answer = self.effect(f"{who} late", name, method, args)
            while type(answer) is GeneratorType and not self.step(f"{who} late", name, answer)[0]:
                pass
            if name == "update_head":
                (_, done), _ = answer
                self.paths["a late update " + ("arrived" if done else "was refused")] += 1
        except FAILURES:
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

    def spawn(
        self, work: Coroutine[Any, Any, Any], *allowed: type[Exception]
    ) -> "asyncio.Task[Any]":
        task = self.loop.create_task(work)
        self.watch(task, *allowed)
        return task

    def watch(self, future: "asyncio.Future[Any]", *allowed: type[Exception]) -> None:
        """Whatever else than these comes out of the log is a violation."""
        self.ended.append(future)
        future.add_done_callback(lambda _: self._ended(future, (Unavailable, Violation, *allowed)))

    def _ended(self, future: "asyncio.Future[Any]", allowed: tuple[type[Exception], ...]) -> None:
        error = None if future.cancelled() else future.exception()
        if error is not None and not isinstance(error, allowed):
            self.fail(f"{type(error).__name__} came out of the log: {error}")
