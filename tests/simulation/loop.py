"""An event loop whose time passes only when nothing can run, and then at once."""

import asyncio
from collections.abc import Callable
from contextvars import Context
from heapq import heappop, heappush
from typing import Any


class Stuck(Exception):
    """Everyone waits for something that can never happen."""


class VirtualLoop(asyncio.BaseEventLoop):
    """No sockets, no threads, no real clock: what runs next depends on nothing outside."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._started = 0
        self.mishap: BaseException | None = None
        """What a callback raised. What nobody fetches from a future is no mishap here."""

    def time(self) -> float:
        return self._now

    def call_later(
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        self._started += 1
        heappush(self._timers, (when, self._started, timer))
        return timer

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """It is passed over when its time comes."""

    def _run_once(self) -> None:
        if not self._ready:
            self._next_timer()
        for _ in range(len(self._ready)):
            handle = self._ready.popleft()
            if not handle._cancelled:
                handle._run()

    def _next_timer(self) -> None:
        while self._timers:
            when, _, timer = heappop(self._timers)
            if not timer._cancelled:
                self._now = max(self._now, when)
                self._ready.append(timer)
                return
        raise Stuck("nothing is left that could run")

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if "handle" in context:
            self.mishap = context["exception"]
            self.stop()

    def _asyncgen_finalizer_hook(self, agen: Any) -> None:
        """A listing that a crashed process never finished: nobody finishes it."""

    def bury(self) -> None:
        """Close it with all that was left hanging on it, and run none of that."""
        for task in asyncio.all_tasks(self):
            task._log_destroy_pending = False
            task.get_coro().close()
        self.close()
