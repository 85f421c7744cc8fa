"""Group commit: appends of one process to one partition share commits.

Appends that arrive while a commit is under way go into the next one, in the order of arrival: one
put and one update for many producers, without a timer.

A client with several requests in flight sends them one after the other. So if the last commit had
several appends, more are probably on their way. The commit then waits as long as every turn of the
event loop brings more appends and all together are small. A client that waits for each answer
before its next request is never delayed by this.

With a window (`window.py`) every commit waits until the window closes.
"""

import asyncio
from collections import deque
from collections.abc import Callable

from samsa.eager_task import Rest, begin
from samsa.ports import Partition

from .admit import Outcome
from .append import Appender
from .layout import Batch
from .stores import Limits
from .window import Window


class Appending(asyncio.Future[Outcome]):
    """An append that is under way."""

    listener: Callable[[], None] | None = None
    """Called immediately when it is done: a callback would run a turn of the event loop later."""


Waiting = tuple[Batch, Appending]

GATHERED_BYTES = 128 * 1024
"""Above this size, write immediately."""


class PartitionWriter:
    def __init__(
        self,
        partition: Partition,
        appender: Appender,
        limits: Limits,
        window: Window | None = None,
    ) -> None:
        self._partition = partition
        self._appender = appender
        self._limits = limits
        self._window = window
        self._closing: asyncio.Future[None] | None = None
        """Done when the window closes that the first append in the queue waits for."""
        self._loop = asyncio.get_running_loop()
        self._queue: deque[Waiting] = deque()
        self._busy = False
        self._waiting_bytes = 0
        self._gathered = 0
        """How many appends waited one turn of the event loop ago."""
        self._last_group = 0
        self._task: asyncio.Task[None] | None = None

    def submit(self, batch: Batch) -> Appending:
        future = Appending(loop=self._loop)
        self._queue.append((batch, future))
        self._waiting_bytes += len(batch.data)
        if self._window is not None:
            closing = self._window.join(len(batch.data))
            if len(self._queue) == 1:
                self._closing = closing
        if not self._busy:
            self._busy = True
            # Not immediately: other appends that have arrived by now share the commit.
            self._gathered = 0
            self._loop.call_soon(self._gather)
        return future

    @property
    def idle(self) -> bool:
        return not self._busy

    async def finished(self) -> None:
        while self._busy:
            if self._task is None:
                await asyncio.sleep(0)
            else:
                await asyncio.wait([self._task])

    def _gather(self) -> None:
        """Wait another turn, in which the event loop reads the sockets again, or begin."""
        waiting = len(self._queue)
        if (
            self._last_group > 1
            and self._gathered < waiting < self._limits.commit_appends
            and self._waiting_bytes < GATHERED_BYTES
        ):
            self._gathered = waiting
            self._loop.call_soon(self._gather)
        else:
            self._begin()

    def _begin(self) -> None:
        if self._appender.is_remote:
            # A call over a network has a timeout, and a timeout needs its task.
            self._task = self._loop.create_task(self._run())
            return
        rest = begin(self._run())
        if rest is not None:
            self._task = self._loop.create_task(_finish(rest))

    async def _run(self) -> None:
        try:
            while self._queue:
                if self._closing is not None:
                    await asyncio.wait([self._closing])
                    self._closing = None
                await self._write(self._take())
        finally:
            self._busy = False
            self._task = None

    def _take(self) -> list[Waiting]:
        group: list[Waiting] = []
        size, limits = 0, self._limits
        is_crowd = len(self._queue) > limits.commit_producers
        producers: set[int] = set()
        while self._queue and len(group) < limits.commit_appends:
            batch = self._queue[0][0]
            more = len(batch.data)
            if group and size + more > limits.commit_bytes:
                break
            if is_crowd:
                producers.add(batch.header.producer_id)
                if len(producers) > limits.commit_producers:
                    break
            size += more
            group.append(self._queue.popleft())
        self._waiting_bytes -= size
        self._last_group = len(group)
        return group

    async def _write(self, group: list[Waiting]) -> None:
        try:
            outcomes = await self._appender.append(self._partition, [batch for batch, _ in group])
        except Exception as error:
            for _, future in group:
                if not future.done():
                    future.set_exception(error)
                    future.exception()  # marks it as retrieved: the waiter may have timed out
        else:
            for (_, future), outcome in zip(group, outcomes, strict=True):
                if not future.done():
                    future.set_result(outcome)
        # Last first: when the listener of the first append runs, the others are done, and all
        # can be answered together.
        for _, future in reversed(group):
            listener, future.listener = future.listener, None
            if listener is not None:
                listener()


async def _finish(rest: Rest) -> None:
    await rest
