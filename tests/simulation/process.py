"""One process of the cluster: the real log, and a way to its stores on which anything may happen.

Each store call waits before its effect and again after it, for as long as the seed says: so the
seed decides who goes on next. A process that crashes is not cancelled, since cancelling runs code
that a crash does not: its calls just never come back.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from inspect import isgenerator
from typing import TYPE_CHECKING, Any

from samsa.log.cache import TailCache
from samsa.log.core import Log
from samsa.log.stores import Stores
from samsa.ports import Appended, Buffer, Claim, Extent, Journaled, Partition, Tail, Unavailable

from .weather import Fault

if TYPE_CHECKING:
    from .world import World

SEVERAL_STEPS = {"confirm", "delete", "replace_extents"}
HEADS = {"head", "reserve", "confirm", "advance_start", "watch"}
INDEX = {"extents", "extent_before"}
STEP_S = 0.004
LONGEST_SLEEP = 8
"""In times of fence_after."""
CACHED_BYTES = 2_000


class Process:
    def __init__(self, world: "World", name: str) -> None:
        rng = world.rng
        self.world = world
        self.name = name
        self.alive = True
        self.died: asyncio.Future[None] = world.loop.create_future()
        self._pace = STEP_S * rng.choice((1, 1, 1, 4, 15))
        self._skew_ms = rng.choice((0, 0, world.setting.fence_after_ms, -300))
        objects = ObjectsDoor(self, world.objects)
        caches = rng.random() < 0.3 and not world.setting.journal  # which is for near stores
        at_once = world.setting.journal and rng.random() < 0.8
        stores = Stores(
            ledger=LedgerDoor(self, world.ledger),
            objects=TailCache(objects, CACHED_BYTES) if caches else objects,
            clock=self,
            wakeups=Silence(),
            nonce=world.nonce,
            limits=replace(world.setting.limits, slot_appends=rng.choice((1, 2, 100))),
            journal=JournalDoor(self, world.journal) if at_once else None,
        )
        self.log = Log(stores)

    def now_ms(self) -> int:
        """Clocks differ: time may only decide when something is looked at."""
        return 1_000_000 + int(self.world.loop.time() * 1000) + self._skew_ms

    def crash(self) -> None:
        self.world.note(self.name, "crashes")
        self.alive = False
        self.died.set_result(None)
        self.world.replace(self)

    async def call(self, name: str, method: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        world = self.world
        await self._pause(name)
        fault = world.weather.fault(world.rng, name, name in SEVERAL_STEPS)
        if fault is Fault.REFUSED or fault is Fault.LATE:
            world.note(self.name, name, args, fault)
            if fault is Fault.LATE:
                world.later(self.name, name, method, args)
            raise Unavailable(fault.value)
        answer = world.effect(self.name, name, method, args, fault)
        if isgenerator(answer):
            answer = await self._step_by_step(name, answer, fault)
        if fault is Fault.CRASH:
            self.crash()
        await self._pause(name)
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
            await self._pause(name)
            if fault is Fault.TORN:
                raise Unavailable(fault.value)

    async def _pause(self, name: str) -> None:
        turn = self.world.loop.create_future()
        self.world.loop.call_later(self._delay(name), self._go_on, turn)
        await turn

    def _delay(self, name: str) -> float:
        world = self.world
        if world.weather.sleeps(world.rng, name):
            return world.setting.fence_after_ms / 1000 * world.rng.uniform(0.5, LONGEST_SLEEP)
        return world.rng.random() * self._pace

    def _go_on(self, turn: "asyncio.Future[None]") -> None:
        if not self.alive:
            self.world.graves.append(turn)
        elif not turn.done():  # a merge that fails calls off what it fetches ahead
            turn.set_result(None)


class Door:
    """A store as one process reaches it: the same methods, each an interrupted call."""

    def __init__(self, process: Process, store: Any) -> None:
        self._process = process
        self._store = store
        self.calls = store.calls

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._store, name)
        process = self._process

        async def call(*args: Any) -> Any:
            return await process.call(name, method, args)

        setattr(self, name, call)
        return call


class LedgerDoor(Door):
    """Remembers up to where the last head said that all is settled, as on DynamoDB: what is read
    from the index is judged by that, and not by what is true meanwhile."""

    def __init__(self, process: Process, store: Any) -> None:
        super().__init__(process, store)
        self._settled_to: dict[Partition, int] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._store, name)
        process = self._process

        def effect(partition: Partition, *args: Any) -> Any:
            if name in HEADS:
                self._settled_to[partition] = self._store.item(partition).settled_to
            if name in INDEX:
                return method(partition, *args, self._settled_to.get(partition, 0))
            return method(partition, *args)

        async def call(*args: Any) -> Any:
            return await process.call(name, effect, args)

        setattr(self, name, call)
        return call


class ObjectsDoor(Door):
    far = True

    async def put_stream(self, key: str, parts: AsyncIterator[Buffer]) -> None:
        data = b"".join([bytes(part) async for part in parts])
        await self._process.call("put_stream", self._store.put_stream, (key, data))

    async def put_if_absent(self, key: str, parts: Sequence[Buffer]) -> bool:
        method = self._store.put_if_absent
        done: bool = await self._process.call("put_if_absent", method, (key, b"".join(parts)))
        return done

    async def list(self, prefix: str, below: str | None = None) -> AsyncIterator[str]:
        for key in await self._process.call("list", self._store.keys, (prefix, below)):
            yield key


class JournalDoor(Door):
    async def append(
        self,
        partition: Partition,
        extent: Extent,
        parts: Sequence[Buffer],
        claims: Sequence[Claim],
    ) -> Journaled:
        stored = partition, extent, b"".join(parts), list(claims)
        done: Journaled = await self._process.call("append", self._store.append, stored)
        return done

    def tail(self, partition: Partition, offset: int) -> Tail | None:
        """Of one's own memory: nothing can go wrong, but one need not know."""
        knows = self._process.world.rng.random() < 0.5
        found: Tail | None = self._store.tail(partition, offset) if knows else None
        return found


class Silence:
    """No wake-ups at all: losing one costs only delay."""

    address = ""

    def subscribe(self, partitions: Iterable[Partition]) -> AbstractContextManager[Any]:
        return nullcontext()

    def wake(
        self, partition: Partition, watchers: Iterable[str], _: Appended | None = None
    ) -> None:
        pass
