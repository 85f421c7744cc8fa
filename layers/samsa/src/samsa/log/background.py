"""Work that no request waits for."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from samsa.ports import Missing, Unavailable, UnknownPartition

log = logging.getLogger("samsa.log")
T = TypeVar("T")


class Background:
    """Keeps its tasks alive, and logs failures: all work here can be repeated later."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def count(self) -> int:
        """How many tasks are under way."""
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, T], *answers: type[Exception]) -> "asyncio.Task[T]":
        """`answers` are errors that the caller handles; they are not logged here."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(lambda _: self._ended(task, answers))
        return task

    def _ended(self, task: asyncio.Task[Any], answers: tuple[type[Exception], ...]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if isinstance(error, answers):
            return
        if isinstance(error, Unavailable | UnknownPartition | Missing):
            log.info("put off: %s", error)
        elif error is not None:
            log.error("background work failed", exc_info=error)

    async def drain(self) -> None:
        while self._tasks:
            await asyncio.wait(self._tasks)
