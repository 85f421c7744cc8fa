"""Drafts: unnamed files that are opened before they are needed.

Creating an inode is the most expensive part of a small put. It does not depend on the content, so
it is done between requests, where no client waits for it.
"""

import asyncio
import errno
import os
from collections import deque

READY = 8
REFILL_AFTER_S = 0.001
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_NO_UNNAMED_FILES = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT}


class Drafts:
    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._ready: deque[int] = deque()
        self._refilling: asyncio.TimerHandle | None = None
        self._closed = False
        self.supported = self._try()

    def _try(self) -> bool:
        """Whether the file system has unnamed files, and /proc is there to link them."""
        if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
            return False
        try:
            self._ready.append(self._open())
        except OSError as error:
            if error.errno in _NO_ROOM:
                return True  # a broker must start on a full disk, so that it can free room
            if error.errno not in _NO_UNNAMED_FILES:
                raise
            return False
        return True

    def _open(self) -> int:
        return os.open(self._folder, os.O_TMPFILE | os.O_WRONLY, 0o644)

    def take(self) -> int:
        """An empty, unnamed file to write to. The caller closes it. Safe in any thread."""
        try:
            return self._ready.popleft()
        except IndexError:
            return self._open()

    def refill_soon(self) -> None:
        """Call it in the event loop, after a put."""
        if self._refilling is None and len(self._ready) < READY and not self._closed:
            loop = asyncio.get_running_loop()
            self._refilling = loop.call_later(REFILL_AFTER_S, self._refill)

    def _refill(self) -> None:
        self._refilling = None
        try:
            while len(self._ready) < READY:
                self._ready.append(self._open())
        except OSError:
            return  # the next `take` raises it

    def close(self) -> None:
        self._closed = True
        if self._refilling is not None:
            self._refilling.cancel()
        while self._ready:
            os.close(self._ready.popleft())
