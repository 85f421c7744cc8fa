"""Answers that are under way, sent in the order of their requests.

A produce is answered when the log has answered for all its partitions, or when its time is up.
Answers that become ready together are sent together: one system call for all that a client
pipelined.
"""

import asyncio
from collections import deque
from collections.abc import Callable

from samsa.broker.broker import Later
from samsa.wire.frame import KafkaRequest

EARLY_S = 0.002
"""A timer may fire this much too early."""


class PendingReply:
    """One request whose answer is under way."""

    __slots__ = ("answered", "began_s", "due", "later", "left", "ready", "replies", "request")

    def __init__(
        self, replies: "PendingReplies", request: KafkaRequest, later: Later, began_s: float
    ) -> None:
        self.replies = replies
        self.began_s = began_s
        self.request = request
        self.later = later
        self.left = 0
        self.due: float | None = None
        self.ready = False
        self.answered = False

    def start(self) -> None:
        for future in self.later.under_way:
            if not future.done():
                self.left += 1
                future.listener = self.one_done
        self.ready = self.left == 0

    def one_done(self) -> None:
        self.left -= 1
        if self.left:
            return
        if self.answered:
            self.replies.memory_free()
        else:
            self.ready = True
            self.replies.flush()


class PendingReplies:
    def __init__(
        self, send: Callable[[list[PendingReply]], None], memory_free: Callable[[], None]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._send = send
        self.memory_free = memory_free
        """Called once for each request, when neither its answer nor the log needs its memory."""
        self._queue: deque[PendingReply] = deque()
        self._all_sent: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due = 0.0

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, request: KafkaRequest, later: Later, began_s: float = 0.0) -> None:
        """`began_s`: 0 if latencies are not counted."""
        reply = PendingReply(self, request, later, began_s)
        self._queue.append(reply)
        reply.start()
        if reply.ready:
            self.flush()
        elif later.timeout_s is not None:
            reply.due = self._loop.time() + later.timeout_s
            self._watch(reply.due)

    def _watch(self, due: float) -> None:
        """One timer for all replies. It rarely finds one that is late."""
        if self._timer is None or due < self._timer_due:
            self.close()
            self._timer = self._loop.call_at(due, self._time_is_up)
            self._timer_due = due

    def _time_is_up(self) -> None:
        self._timer = None
        now = self._loop.time() + EARLY_S
        for reply in self._queue:
            if reply.due is not None and reply.due <= now:
                reply.ready = True
        self.flush()
        later = [r.due for r in self._queue if r.due is not None and not r.ready]
        if later:
            self._watch(min(later))

    def flush(self) -> None:
        """Send the replies that are ready, up to the first one that is not."""
        ready: list[PendingReply] = []
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

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
