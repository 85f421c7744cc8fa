"""Ownership: whether this process is alone with a ledger, until another process knocks.

Every process that opens a ledger holds a shared lock on a file beside it (`-owner`). If there is no
other process, it may make its lock exclusive. Then no other process reads or writes the ledger, so
no other process can miss the notes that are not settled yet. A new process knocks, by making a file
(`-knock`). The process that is alone checks for it now and then, settles its notes, and shares the
ledger again. The lock of a process that dies is released by the kernel.

flock(2) changes a lock by releasing it and taking it again, and another process may get it in
between. So every change is made under a second lock, the gate (`-gate`), which is held only for the
change. The process that held the lock before may have been alone and died. So after a lock is
taken, `recover` is called under the gate, before anything else, and settles the notes of that
process. It is told whether this process is the only one that has the ledger open. While it runs,
no other process can open it.

Nothing here waits for a lock, except the opening of a ledger, for a limited time.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event

from samsa.local.files import try_lock

KNOCKS = 2_000
KNOCK_EVERY_S = 0.005
ALONE_TRIES, ALONE_EVERY_S = 3, 0.002


class Ownership:
    def __init__(self, path: str, recover: Callable[[bool], None] = lambda _: None) -> None:
        self._path = path
        self._knock = f"{path}-knock"
        self._recover = recover
        self._fd = _opened(f"{path}-owner")
        self._gate = _opened(f"{path}-gate")
        self.alone = False
        self.was_first = False
        """Whether no other process had the ledger open when this one opened it."""
        try:
            self._join()
        except BaseException:
            self.close()
            raise

    def _join(self) -> None:
        for _ in range(KNOCKS):
            if self._enter():
                return
            with open(self._knock, "wb"):
                Event().wait(KNOCK_EVERY_S)
        raise OSError(f"another process keeps {self._path} to itself and does not let others in")

    def _enter(self) -> bool:
        with self._behind_the_gate() as may_change:
            if not may_change:
                return False
            self.was_first = try_lock(self._fd, fcntl.LOCK_EX)
            if not try_lock(self._fd, fcntl.LOCK_SH):
                return False
            self._recover(self.was_first)
            with suppress(FileNotFoundError):
                os.unlink(self._knock)
            return True

    @contextmanager
    def _behind_the_gate(self) -> Iterator[bool]:
        entered = try_lock(self._gate, fcntl.LOCK_EX)
        try:
            yield entered
        finally:
            if entered:
                fcntl.flock(self._gate, fcntl.LOCK_UN)

    def try_alone(self) -> bool:
        """False if another process has the ledger open, or is opening it. Several tries, because
        `is_held_alone` in another process holds the lock too, for a moment."""
        for _ in range(ALONE_TRIES):
            if self._is_alone():
                return True
            Event().wait(ALONE_EVERY_S)
        return False

    def _is_alone(self) -> bool:
        with self._behind_the_gate() as may_change:
            if not may_change:
                return False
            if try_lock(self._fd, fcntl.LOCK_EX):
                self._recover(True)
                self.alone = True
                return True
            # The failed change has released the shared lock. No other process can be alone now,
            # because that needs the gate. (Except a process of an older version, without a gate.)
            is_back = try_lock(self._fd, fcntl.LOCK_SH)
        if not is_back:
            self._join()
        return False

    @property
    def knocked(self) -> bool:
        return os.path.exists(self._knock)

    def share(self) -> bool:
        """False if the gate is in use: then nothing has changed, and it can be tried again."""
        with self._behind_the_gate() as may_change:
            if may_change and try_lock(self._fd, fcntl.LOCK_SH):
                self.alone = False
        return not self.alone

    def close(self) -> None:
        os.close(self._fd)
        os.close(self._gate)


def is_held_alone(path: str) -> bool:
    """For a process that does not open the ledger itself."""
    try:
        fd = os.open(f"{path}-owner", os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        return not try_lock(fd, fcntl.LOCK_SH)
    finally:
        os.close(fd)


def _opened(path: str) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
