"""Answers that are under way, sent in the order of their requests.

A produce is answered when the log has answered for all its partitions, or when its time is up.
Those that become ready together leave together: one system call for all that a client pipelined.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from samsa.handlers.broker import Later
from samsa.wire.frame import Request


class Reply:
    """One request whose answer is under way."""

    __slots__ = ("answered", "later", "left", "ready", "replies", "request", "timer")

    def __init__(self, replies: "Replies", request: Request, later: Later) -> None:
        self.replies = replies
        self.request = request
        self.later = later
        self.left = 0
        self.ready = False
        self.answered = False
        self.timer: asyncio.TimerHandle | None = None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        for future in self.later.under_way:
            if not future.done():
                self.left += 1
                future.add_done_callback(self.one_done)
        if self.left == 0:
            self.be_ready()
        elif self.later.timeout_s is not None:
            self.timer = loop.call_later(self.later.timeout_s, self.be_ready)

    def one_done(self, _: "asyncio.Future[Any]") -> None:
        self.left -= 1
        if self.left:
            return
        if self.timer is not None:
            self.timer.cancel()
        if self.answered:
            self.replies.memory_free()
        else:
            self.be_ready()

    def be_ready(self) -> None:
        self.ready = True
        self.replies.flush()


class Replies:
    def __init__(
        self, send: Callable[[list[Reply]], None], memory_free: Callable[[], None]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._send = send
        self.memory_free = memory_free
        """Called once for each request, when neither its answer nor the log needs its memory."""
        self._queue: deque[Reply] = deque()
        self._all_sent: asyncio.Future[None] | None = None

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, request: Request, later: Later) -> None:
        reply = Reply(self, request, later)
        self._queue.append(reply)
        reply.start(self._loop)

    def flush(self) -> None:
        """Send what is ready, up to the first that is not."""
        ready: list[Reply] = []
        while self._queue and self._queue[0].ready:
            ready.append(self._queue.popleft())
        if not ready:
            return
        self._send(ready)
        for reply in ready:
            reply.answered = True
            if reply.left == 0:
                self.memory_free()
        if not self._queue and self._all_sent is not None and not self._all_sent.done():
            self._all_sent.set_result(None)

    async def all_sent(self) -> None:
        if self._queue:
            self._all_sent = self._loop.create_future()
            await self._all_sent
