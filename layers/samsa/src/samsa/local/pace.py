"""Where to write: in the event loop, or in a thread.

To hand an append over to a thread and to hear from it again costs 150 µs of CPU, as much as it
takes to put 400 KB into the page cache. So while the disk keeps up, appends of up to a megabyte are
written where they are. When it does not, the kernel makes writers wait, and whoever waits in the
event loop lets everybody wait: from then on only small ones are written there, for a while.

The time that a write takes is the machine's, and not the log's: it decides who writes, never what.
"""

from collections.abc import Callable
from time import perf_counter

from samsa.local.files import INLINE_BYTES

QUICK_BYTES = 1024 * 1024
LONG_S = 0.02
"""Far more than a megabyte takes, and more than a busy machine lets a thread wait for its turn."""
CAREFUL_S = 5.0


class Pace:
    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self.clock = clock
        self._careful_until = 0.0

    def in_loop(self, size: int) -> bool:
        if size <= INLINE_BYTES:
            return True
        return size <= QUICK_BYTES and self.clock() >= self._careful_until

    def wrote(self, began: float) -> None:
        """In the event loop, since then."""
        now = self.clock()
        if now - began >= LONG_S:
            self._careful_until = now + CAREFUL_S
