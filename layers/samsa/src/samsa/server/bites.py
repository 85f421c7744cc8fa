"""Work in small bites, beside an event loop that has something better to do.

In a thread of its own, with a real pause after every bite: a thread that works on without one holds
the interpreter for five milliseconds at a time, and every request would wait for that. So one waits
for half a millisecond at most, and the work gets what is left of a core.
"""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from samsa.records.spans import Steps

T = TypeVar("T")


class Stopped(Exception):
    """Nobody waits for the result any more."""


class Bites:
    def __init__(self, pause_s: float = 0.0002) -> None:
        self._pause_s = pause_s
        self._threads = ThreadPoolExecutor(1, "bites")

    async def __call__(self, steps: Steps[T], /) -> T:
        stop = threading.Event()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, self._through, steps, stop)
        finally:
            stop.set()

    def _through(self, steps: Steps[T], stop: threading.Event) -> T:
        while not stop.is_set():
            try:
                next(steps)
            except StopIteration as done:
                found: T = done.value
                return found
            time.sleep(self._pause_s)
        raise Stopped
