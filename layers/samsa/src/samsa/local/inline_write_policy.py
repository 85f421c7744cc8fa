"""Decides where an append is written: in the event loop, or in a thread.

Handing an append to a thread and back costs 150 µs of CPU, as much as writing 400 KB to the page
cache. So while the disk keeps up, appends of up to a megabyte are written in the event loop. When
the disk is too slow, the kernel blocks writers, and a blocked event loop delays all requests. So
after one slow write, only small appends are written in the event loop, for a while.

The clock used here is the machine's, not that of the log: it decides where bytes are written, never
what is written.
"""

from collections.abc import Callable
from time import perf_counter

from samsa.local.files import INLINE_BYTES

QUICK_BYTES = 1024 * 1024
LONG_S = 0.02
"""Far more than a megabyte takes, and more than a thread waits for its turn on a busy machine."""
CAREFUL_S = 5.0


class InlineWritePolicy:
    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self.clock = clock
        self._careful_until = 0.0

    def in_loop(self, size: int) -> bool:
        if size <= INLINE_BYTES:
            return True
        return size <= QUICK_BYTES and self.clock() >= self._careful_until

    def wrote(self, began: float) -> None:
        """Report a write in the event loop that began at `began` and has just ended."""
        now = self.clock()
        if now - began >= LONG_S:
            self._careful_until = now + CAREFUL_S
