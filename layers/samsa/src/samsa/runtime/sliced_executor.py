"""Runs long work in small slices, in a thread, so that it does not delay the event loop.

The thread sleeps after every slice. A thread without pauses holds the interpreter lock for five
milliseconds at a time, and every request would wait for that. With pauses a request waits for half
a millisecond at most, and the work gets what is left of a core.
"""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from samsa.records.spans import Steps

T = TypeVar("T")


class Stopped(Exception):
    """The caller was cancelled and does not need the result."""


class SlicedExecutor:
    def __init__(self, pause_s: float = 0.0002) -> None:
        self._pause_s = pause_s
        self._threads = ThreadPoolExecutor(1, "slices")

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

    def close(self) -> None:
        """End the thread, after the work that it does. For a process that opens one broker after
        the other."""
        self._threads.shutdown()
