"""A group, and how long it takes until everyone holds an assignment of one generation."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from harness.process import ToolFailed

from .member import Member

FAREWELL_S = 10


class Group:
    def __init__(
        self, kind: type[Member], port: int, name: str, topic: str, partitions: int
    ) -> None:
        self.members: list[Member] = []
        self._kind = kind
        self._port = port
        self._name = name
        self._topic = topic
        self._partitions = partitions
        self._lives: dict[Member, asyncio.Task[None]] = {}
        self._stable: asyncio.Future[float] | None = None
        self._last = -1
        """The last generation in which everyone held an assignment."""

    async def invite(self, count: int, beat_s: float) -> None:
        """They connect and find the coordinator, but do not join yet."""
        for number in range(count):
            member = self._kind(self._name, self._topic, self._partitions, beat_s)
            member.phase = (number + 1) / count
            # One after the other: Kafka's backlog is 50.
            await member.connect(self._port)
            self.members.append(member)

    async def join(self, patience_s: float) -> float:
        """Those who were invited do so; seconds until the group is stable."""
        started = time.perf_counter()
        for member in self.members:
            if member not in self._lives:
                member.changed = self._look
                self._lives[member] = asyncio.create_task(member.live())
        return await self._until_stable(patience_s) - started

    async def leave(self, patience_s: float) -> float:
        """The last one does so; seconds until the others are stable again."""
        member = self.members.pop()
        await _cancel(self._lives.pop(member))
        started = time.perf_counter()
        leaving = asyncio.create_task(member.leave())
        try:
            stable = await self._until_stable(patience_s)
            await leaving
        finally:
            leaving.cancel()
            member.connection.close()
        return stable - started

    async def _until_stable(self, patience_s: float) -> float:
        self._stable = asyncio.get_running_loop().create_future()
        lives = list(self._lives.values())
        awaited: list[asyncio.Future[Any]] = [self._stable, *lives]
        await asyncio.wait(awaited, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
        for life in lives:
            if life.done():
                await life
        if not self._stable.done():
            raise ToolFailed(f"{self._name} was not stable after {patience_s:.0f} s")
        return self._stable.result()

    def _look(self) -> None:
        if self._stable is None or self._stable.done() or not self.is_stable():
            return
        self._last = self.members[0].epoch
        self._stable.set_result(time.perf_counter())

    def is_stable(self) -> bool:
        """In one new generation everyone holds a fair share, and together they hold everything."""
        epoch = self.members[0].epoch
        if epoch <= self._last:
            return False
        shares = []
        for member in self.members:
            if member.epoch != epoch or member.holds is None:
                return False
            shares.append(member.holds)
        sizes = [len(share) for share in shares]
        everything = sum(sizes) == self._partitions == len(frozenset().union(*shares))
        return everything and max(sizes) - min(sizes) <= 1

    async def end(self) -> None:
        """All leave: one that only falls silent is work for the broker when others are timed."""
        for life in self._lives.values():
            life.cancel()
        await asyncio.gather(*self._lives.values(), return_exceptions=True)
        if self._lives:
            with suppress(ToolFailed, TimeoutError):
                await asyncio.wait_for(self._kind.leave_together(list(self._lives)), FAREWELL_S)
        for member in self.members:
            member.connection.close()


async def _cancel(life: "asyncio.Task[None]") -> None:
    life.cancel()
    with suppress(asyncio.CancelledError):
        await life


@asynccontextmanager
async def gathering(
    kind: type[Member], port: int, name: str, topic: str, partitions: int
) -> AsyncIterator[Group]:
    made = Group(kind, port, name, topic, partitions)
    try:
        yield made
    finally:
        await made.end()
