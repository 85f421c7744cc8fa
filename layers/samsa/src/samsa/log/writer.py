"""Grouping: appends to one partition share slots while the process lives.

Whatever arrives while a slot is being written goes into the next one, in the order of arrival: one
put and one confirm for many producers, without anyone waiting on a timer.
"""

import asyncio
from collections import deque

from samsa.ports import Partition

from .admit import Outcome
from .append import Appender
from .layout import Batch
from .stores import Limits

Waiting = tuple[Batch, "asyncio.Future[Outcome]"]


class PartitionWriter:
    def __init__(self, partition: Partition, appender: Appender, limits: Limits) -> None:
        self._partition = partition
        self._appender = appender
        self._limits = limits
        self._queue: deque[Waiting] = deque()
        self._task: asyncio.Task[None] | None = None

    def submit(self, batch: Batch) -> "asyncio.Future[Outcome]":
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Outcome] = loop.create_future()
        self._queue.append((batch, future))
        if self._task is None:
            self._task = loop.create_task(self._run())
        return future

    @property
    def idle(self) -> bool:
        return self._task is None

    async def finished(self) -> None:
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        try:
            while self._queue:
                await self._write(self._take())
        finally:
            self._task = None

    def _take(self) -> list[Waiting]:
        group: list[Waiting] = []
        size = 0
        while self._queue and len(group) < self._limits.slot_appends:
            size += len(self._queue[0][0].data)
            if group and size > self._limits.slot_bytes:
                break
            group.append(self._queue.popleft())
        return group

    async def _write(self, group: list[Waiting]) -> None:
        try:
            outcomes = await self._appender.append(self._partition, [batch for batch, _ in group])
        except Exception as error:
            for _, future in group:
                if not future.done():
                    future.set_exception(error)
                    future.exception()  # whoever waited may have been told that time is up
        else:
            # Last first: who waits for the first of several finds the others done, and can answer
            # them all at once.
            for (_, future), outcome in zip(reversed(group), reversed(outcomes), strict=True):
                if not future.done():
                    future.set_result(outcome)
