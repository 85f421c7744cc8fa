"""Eager tasks: run a coroutine at once, in the caller, up to its first wait.

Most requests are answered without any wait: their data is in memory, or one short system call away.
A task for each would cost about as much as the work itself, and a turn of the event loop. So
`begin` runs a coroutine up to its first wait, and only the rest goes to a task. (Python 3.12 has
eager tasks for this. Unlike those, ours can be awaited in a task that exists already.)

During `begin`, the coroutine's `Rest` is the current task. So a timeout inside the coroutine
cancels the rest of this coroutine. It never cancels the task that awaits the rest, which may do
other work when the time is up.
"""

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any


class Rest:
    """What is left of a coroutine that was begun. It must be awaited, in a task.

    Until then it counts cancellations, as a task does. The task that awaits it takes them over:
    they are raised in the coroutine's first wait.
    """

    __slots__ = ("_coroutine", "_ended", "_pending", "_task", "_waits_for")

    def __init__(self, coroutine: Coroutine[Any, Any, None]) -> None:
        self._coroutine = coroutine
        self._waits_for: Any = None
        self._task: asyncio.Task[Any] | None = None
        self._pending = 0
        self._ended = False

    def start(self) -> "Rest | None":
        try:
            self._waits_for = self._coroutine.send(None)
        except StopIteration:
            return None
        return self

    def __await__(self) -> Generator[Any, None, None]:
        self._task = asyncio.current_task()
        self._hand_over()
        thrown: BaseException | None = None
        try:
            while True:
                if thrown is not None:
                    self._waits_for = self._coroutine.throw(thrown)
                try:
                    yield self._waits_for
                except BaseException as error:
                    thrown = error
                else:
                    thrown = None
                    self._waits_for = self._coroutine.send(None)
        except StopIteration:
            return
        finally:
            self._ended = True

    def _hand_over(self) -> None:
        assert self._task is not None
        pending, self._pending = self._pending, 0
        for _ in range(pending):
            self._task.cancel()

    # The methods of a task that a timeout calls

    def cancel(self, msg: Any = None) -> bool:
        """Raise CancelledError in the coroutine. False if it has ended: nothing is cancelled."""
        if self._ended:
            return False
        if self._task is not None:
            return self._task.cancel(msg)
        self._pending += 1
        return True

    def cancelling(self) -> int:
        return self._pending + (self._task.cancelling() if self._task is not None else 0)

    def uncancel(self) -> int:
        if self._pending:
            self._pending -= 1
        elif self._task is not None:
            self._task.uncancel()
        return self.cancelling()


def begin(coroutine: Coroutine[Any, Any, None]) -> Rest | None:
    """Run a coroutine up to its first wait. None if it ended without one.

    Raises what the coroutine raises.
    """
    rest: Any = Rest(coroutine)
    loop = asyncio.get_running_loop()
    try:
        asyncio._enter_task(loop, rest)
    except RuntimeError:  # a task runs already, and must be the current one again later
        return _begin_within(rest, loop)
    try:
        return rest.start()  # type: ignore[no-any-return]
    finally:
        asyncio._leave_task(loop, rest)


def _begin_within(rest: Any, loop: asyncio.AbstractEventLoop) -> Rest | None:
    current: Any = asyncio.current_task(loop)
    asyncio._leave_task(loop, current)
    asyncio._enter_task(loop, rest)
    try:
        return rest.start()  # type: ignore[no-any-return]
    finally:
        asyncio._leave_task(loop, rest)
        asyncio._enter_task(loop, current)
