"""An event loop whose time passes only when nothing can run, and then at once.

Most of the time of a schedule is spent here. So callbacks are called without a handle of asyncio's,
and without a context: the log has no context variables.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context
from heapq import heappop, heappush
from typing import Any


class Stuck(Exception):
    """Everyone waits for something that can never happen."""


class Call:
    """What is called later, in place of asyncio's handles."""

    __slots__ = ("args", "callback", "is_cancelled")

    def __init__(self, callback: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.callback = callback
        self.args = args
        self.is_cancelled = False

    def cancel(self) -> None:
        """It is passed over when its time comes."""
        self.is_cancelled = True

    def cancelled(self) -> bool:
        return self.is_cancelled


class VirtualLoop(asyncio.BaseEventLoop):
    """No sockets, no threads, no real clock: what runs next depends on nothing outside."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._timers: list[tuple[float, int, Call]] = []
        self._started = 0
        self._tasks: list[asyncio.Task[Any]] = []
        self.mishap: BaseException | None = None
        """What a callback raised. What nobody fetches from a future is no mishap here."""

    def time(self) -> float:
        return self._now

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> Call:
        call = Call(callback, args)
        self._ready.append(call)
        return call

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> Call:
        return self.call_at(self._now + delay, callback, *args)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> Call:
        call = Call(callback, args)
        self._started += 1
        heappush(self._timers, (when, self._started, call))
        return call

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
        ready, timers = self._ready, self._timers
        try:
            while not self._stopping:
                if ready:
                    call = ready.popleft()
                elif timers:
                    when, _, call = heappop(timers)
                    if not call.is_cancelled and when > self._now:
                        self._now = when
                else:
                    raise Stuck("nothing is left that could run")
                if not call.is_cancelled:
                    call.callback(*call.args)
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
        self.close()
