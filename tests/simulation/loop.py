"""An event loop whose time passes only when nothing can run, and then at once.

Much of the time of a schedule is spent here. So callbacks are called without a handle of asyncio's,
and without a context: the log has no context variables.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from functools import partial
from heapq import heappop, heappush
from typing import Any


class Stuck(Exception):
    """Everyone waits for something that can never happen."""


class Timer:
    """What can be called off before its time, in place of asyncio's handles."""

    __slots__ = ("callback",)

    def __init__(self, callback: Callable[[], Any]) -> None:
        self.callback: Callable[[], Any] | None = callback

    def __call__(self) -> None:
        if self.callback is not None:
            self.callback()

    def cancel(self) -> None:
        """It is passed over when its time comes."""
        self.callback = None

    def cancelled(self) -> bool:
        return self.callback is None


class VirtualLoop(asyncio.BaseEventLoop):
    """No sockets, no threads, no real clock: what runs next depends on nothing outside."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._calls: deque[tuple[Callable[..., Any], tuple[Any, ...]]] = deque()
        self._timers: list[tuple[float, int, Callable[..., Any], tuple[Any, ...]]] = []
        self._started = 0
        self._tasks: list[asyncio.Task[Any]] = []
        self.mishap: BaseException | None = None
        """What a callback raised. What nobody fetches from a future is no mishap here."""

    def time(self) -> float:
        return self._now

    get_debug = bool  # asked for each future and task; not a function, which would be slower

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> None:
        """Nothing calls off what comes next."""
        self._calls.append((callback, args))

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> Timer:
        timer = Timer(partial(callback, *args))
        self.after(delay, timer)
        return timer

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> Timer:
        return self.call_later(when - self._now, callback, *args)

    def after(self, delay: float, callback: Callable[..., Any], *args: Any) -> None:
        """As `call_later`, of what is never called off."""
        self._started += 1
        heappush(self._timers, (self._now + delay, self._started, callback, args))

    def create_future(self) -> "asyncio.Future[Any]":
        return asyncio.Future(loop=self)

    def create_task(  # type: ignore[override]
        self, work: Coroutine[Any, Any, Any], *, name: str = "", context: Context | None = None
    ) -> "asyncio.Task[Any]":
        task = asyncio.Task(work, loop=self, name=name)
        self._tasks.append(task)
        return task

    def _run_once(self) -> None:
        """Runs until the loop is stopped."""
        calls, timers = self._calls, self._timers
        try:
            while not self._stopping:
                if calls:
                    callback, args = calls.popleft()
                elif timers:
                    self._now, _, callback, args = heappop(timers)
                else:
                    raise Stuck("nothing is left that could run")
                callback(*args)
        except (Stuck, SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            self.mishap = error
            self.stop()

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """What nobody fetches from a future."""

    def _asyncgen_finalizer_hook(self, agen: Any) -> None:
        """A listing that a crashed process never finished: nobody finishes it."""

    def bury(self) -> None:
        """Close it with all that was left hanging on it, and run none of that."""
        for task in self._tasks:
            if not task.done():
                task._log_destroy_pending = False
                task.get_coro().close()
        self._tasks.clear()
        self._timers.clear()
        self._calls.clear()
        self.close()
