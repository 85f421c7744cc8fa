"""One process of the cluster: the real log, and a way to its stores on which anything may happen.

Each store call waits before its effect and again after it, for as long as the seed says: so the
seed decides who goes on next. A process that crashes is not cancelled, since cancelling runs code
that a crash does not: its calls just never come back.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from types import GeneratorType
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

from samsa.aws.journal import HeadJournal
from samsa.aws.tidying import Settling
from samsa.coordinator.transactions import TransactionCoordinator
from samsa.local.database import Busy
from samsa.local.object_journal import ObjectJournal
from samsa.log.background import Background
from samsa.log.cache import TailCache
from samsa.log.core import Log
from samsa.log.stores import Stores
from samsa.ports import Appended, Journal, NotDone, Objects, Partition, Unavailable
from samsa.transactions import Settings

from .doors import LedgerDoor, ObjectsDoor, TransactionsDoor
from .near import NearDoor, SimSqliteJournal
from .paths import is_ending
from .setting import Kind
from .weather import Fault

if TYPE_CHECKING:
    from .world import World

T = TypeVar("T")
SEVERAL_STEPS = {"delete", "replace_extents"}
STEP_S = 0.004
LONGEST_SLEEP = 8
"""In times of what is long."""
CACHED_BYTES = 2_000
LOOK_AGAIN_MS = 400
SETTLING = (Settling.AFTERWARDS, Settling.AFTERWARDS, Settling.BESIDE, Settling.AT_ONCE)


class Process:
    def __init__(self, world: "World", name: str) -> None:
        rng = world.rng
        self.world = world
        self.name = name
        self.alive = True
        self.died: asyncio.Future[None] = world.loop.create_future()
        self._pace = STEP_S * rng.choice((1, 1, 1, 4, 15))
        self._skew_ms = rng.choice((0, 0, world.setting.long_ms, -300))
        far = world.setting.remote
        caches = far and rng.random() < 0.3
        objects = ObjectsDoor(self, world.objects)
        objects.remote = world.setting.kind is not Kind.PACKS
        ledger = LedgerDoor(self, world.ledger) if far else NearDoor(self, world.ledger)
        stores = Stores(
            ledger=ledger,
            objects=TailCache(objects, CACHED_BYTES) if caches else objects,
            clock=self,
            wakeups=Silence(),
            nonce=world.nonce,
            limits=replace(world.setting.limits, commit_appends=rng.choice((1, 2, 100))),
            journal=self._journal(ledger, objects),
        )
        self.log = Log(stores)
        transactions = TransactionsDoor(self, world.transactions)
        next_id = world.next_producer_id
        answers_first = crc32(name.encode()) % 8 > 0
        self.coordinator = TransactionCoordinator(
            stores, transactions, self.log, Settings(), next_id, LOOK_AGAIN_MS, answers_first
        )
        self.coordinator.background = LeftWork(world)

    def _journal(self, ledger: Any, objects: Objects) -> Journal:
        world = self.world
        if world.setting.kind is Kind.HEADS:
            has_window = world.setting.limits.window_ms > 0
            settling = world.rng.choice(SETTLING)
            return HeadJournal(ledger, objects, world.nonce, self, has_window, settling)
        if world.setting.kind is Kind.OBJECTS:
            return ObjectJournal(ledger, objects, world.nonce)
        return SimSqliteJournal(ledger, world.packs, self.name, world.truth)

    def now_ms(self) -> int:
        """Clocks differ: time may only decide when something is looked at."""
        return 1_000_000 + int(self.world.loop.time() * 1000) + self._skew_ms

    def crash(self) -> None:
        self.world.note(self.name, "crashes")
        self.alive = False
        path = "a process crashed before a transaction was finished"
        self.world.paths[path] += is_ending(self.coordinator)
        path = "a process crashed after it had answered an end"
        self.world.paths[path] += self.coordinator.background.count > 0
        self.died.set_result(None)
        if isinstance(self.log._stores.journal, SimSqliteJournal):
            self.log._stores.journal.crash()
        self.world.replace(self)

    async def call(self, name: str, method: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        world = self.world
        await self._turn(name)
        fault = world.weather.fault(world.rng, name, name in SEVERAL_STEPS)
        if fault is Fault.LATE and world.setting.kind is Kind.PACKS and name == "commit":
            fault = Fault.REFUSED  # a call of SQLite that has failed does nothing later
        if fault is Fault.REFUSED or fault is Fault.LATE:
            world.note(self.name, name, args, fault)
            if fault is Fault.REFUSED and world.rng.random() < 0.5:
                raise (NotDone if world.setting.remote else Busy)(fault.value)
            if fault is Fault.LATE:
                world.later(self.name, name, method, args)
            raise Unavailable(fault.value)
        answer = world.effect(self.name, name, method, args, fault)
        if type(answer) is GeneratorType:
            answer = await self._step_by_step(name, answer, fault)
        if fault is Fault.CRASH:
            self.crash()
        await self._turn(name)
        if fault is Fault.LOST:
            raise Unavailable(fault.value)
        return answer

    async def _step_by_step(self, name: str, steps: Any, fault: Fault | None) -> Any:
        while True:
            done, answer = self.world.step(self.name, name, steps, fault)
            if done:
                return answer
            if fault is Fault.TORN and self.world.rng.random() < 0.5:
                self.crash()
            await self._turn(name)
            if fault is Fault.TORN:
                raise Unavailable(fault.value)

    def _turn(self, name: str) -> "asyncio.Future[None]":
        """When it is this call's turn to go on."""
        loop = self.world.loop
        turn: asyncio.Future[None] = asyncio.Future(loop=loop)
        loop.after(self._delay(name), self._go_on, turn)
        return turn

    def _delay(self, name: str) -> float:
        world = self.world
        if world.weather.sleeps(world.rng, name):
            return world.setting.long_ms / 1000 * world.rng.uniform(0.5, LONGEST_SLEEP)
        return world.rng.random() * self._pace

    def _go_on(self, turn: "asyncio.Future[None]") -> None:
        if not self.alive:
            self.world.ended.append(turn)
        elif not turn.done():  # a merge that fails calls off what it fetches ahead
            turn.set_result(None)


class LeftWork(Background):
    """What a process does after its answer. When the process crashes, it never comes back."""

    def __init__(self, world: "World") -> None:
        super().__init__()
        self._world = world

    def start(self, work: Coroutine[Any, Any, T], *answers: type[Exception]) -> "asyncio.Task[T]":
        task: asyncio.Task[T] = self._world.spawn(work, *answers)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


class Silence:
    """No wake-ups at all: losing one costs only delay."""

    address = ""

    def subscribe(self, partitions: Iterable[Partition]) -> AbstractContextManager[Any]:
        return nullcontext()

    def wake(
        self, partition: Partition, watchers: Iterable[str], _: Appended | None = None
    ) -> None:
        pass
