"""Whether this process is alone with a ledger, and may stay so until somebody knocks.

Everyone who opens a ledger holds a shared lock on a file beside it. Who finds nobody else there may
make the lock exclusive: then no other process reads or writes the ledger, and what this one has not
written down yet is nobody's concern. A newcomer knocks, by making a file; who is alone looks for
it now and then, puts its house in order, and shares again. A process that dies leaves no lock.
"""

import fcntl
import os
from contextlib import suppress
from threading import Event

KNOCKS = 2_000
KNOCK_EVERY_S = 0.005


class Ownership:
    def __init__(self, path: str) -> None:
        self._path = path
        self._knock = f"{path}-knock"
        self._fd = os.open(f"{path}-owner", os.O_RDWR | os.O_CREAT, 0o644)
        self.alone = False
        self._join()

    def _join(self) -> None:
        for _ in range(KNOCKS):
            if _lock(self._fd, fcntl.LOCK_SH):
                with suppress(FileNotFoundError):
                    os.unlink(self._knock)
                return
            with open(self._knock, "wb"):
                Event().wait(KNOCK_EVERY_S)
        os.close(self._fd)
        raise OSError(f"another process keeps {self._path} to itself and does not let others in")

    def try_alone(self) -> bool:
        self.alone = _lock(self._fd, fcntl.LOCK_EX)
        if not self.alone:
            self._join()  # a lock that could not be changed is gone
        return self.alone

    @property
    def knocked(self) -> bool:
        return os.path.exists(self._knock)

    def share(self) -> None:
        self.alone = False
        fcntl.flock(self._fd, fcntl.LOCK_SH)

    def close(self) -> None:
        os.close(self._fd)


def somebody_is_alone(path: str) -> bool:
    """Asked by somebody who stays outside."""
    try:
        fd = os.open(f"{path}-owner", os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        return not _lock(fd, fcntl.LOCK_SH)
    finally:
        os.close(fd)


def is_alone(path: str) -> bool:
    """True if no other process holds the lock, which is shared from then on until we end."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    alone = _lock(fd, fcntl.LOCK_EX)
    fcntl.flock(fd, fcntl.LOCK_SH)
    return alone


def _lock(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
