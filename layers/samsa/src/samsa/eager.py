"""Coroutines that are begun where they are called.

Most requests are answered without waiting for anything: what they need is in memory, or one short
system call away. A task for each would cost about as much as the work itself, and a turn of the
event loop. So a coroutine is run here up to its first wait, and only what is left of it goes to a
task. (Python 3.12 has eager tasks for this; ours also let a task that exists take over.)
"""

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any


class Rest:
    """What is left of a coroutine that was begun. It has to be awaited, in a task."""

    __slots__ = ("_coroutine", "_error", "_waits_for")

    def __init__(self, coroutine: Coroutine[Any, Any, None], waits_for: Any) -> None:
        self._coroutine = coroutine
        self._waits_for = waits_for
        self._error: BaseException | None = None

    def __await__(self) -> Generator[Any, None, None]:
        waits_for, thrown = self._waits_for, self._error
        try:
            while True:
                if thrown is not None:
                    waits_for = self._coroutine.throw(thrown)
                try:
                    yield waits_for
                except BaseException as error:
                    thrown = error
                else:
                    thrown = None
                    waits_for = self._coroutine.send(None)
        except StopIteration:
            return

    def cancel(self) -> None:
        """Whoever awaits it cancels it so."""
        self._error = asyncio.CancelledError()


def begin(
    coroutine: Coroutine[Any, Any, None], task: "asyncio.Task[Any] | None" = None
) -> Rest | None:
    """Run a coroutine up to its first wait. None if it ended without one.

    Raises what the coroutine raises. `task` is who will do that, for a coroutine
    that asks for its task: a timeout does, to cancel it.
    """
    if task is not None:
        asyncio._enter_task(task.get_loop(), task)
    try:
        return Rest(coroutine, coroutine.send(None))
    except StopIteration:
        return None
    finally:
        if task is not None:
            asyncio._leave_task(task.get_loop(), task)
