"""The window of a process: how long its appends wait for each other, over all partitions.

The first append opens it. It closes after `window_ms`, or when it holds as much as one put carries.
Then all appends in it are committed, with one put and one update for each partition.
"""

import asyncio

from samsa.ports.windows import WINDOW_BYTES


class Window:
    def __init__(self, window_ms: int) -> None:
        self.window_ms = window_ms
        self._size = 0
        self._closing: asyncio.Future[None] | None = None

    def join(self, size: int) -> "asyncio.Future[None]":
        """Add an append of `size` bytes. The future is done when it may be committed."""
        if self._closing is None:
            loop = asyncio.get_running_loop()
            self._closing, self._size = loop.create_future(), 0
            loop.call_later(self.window_ms / 1000, self._close, self._closing)
        closing = self._closing
        self._size += size
        if self._size >= WINDOW_BYTES:
            self._close(closing)
        return closing

    def _close(self, closing: "asyncio.Future[None]") -> None:
        if not closing.done():
            closing.set_result(None)
            self._closing = None
