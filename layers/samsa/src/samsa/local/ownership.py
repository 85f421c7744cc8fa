"""Whether this process is alone with a ledger, and may stay so until another one knocks.

Every process that opens a ledger holds a shared lock on a file beside it (`-owner`). A process that
finds no other there may make its lock exclusive: then no other process reads or writes the ledger,
and what this one has not written down yet concerns nobody else. A newcomer knocks, by making a file
(`-knock`); the process that is alone looks for it now and then, writes its notes down, and shares
again. A process that dies leaves no lock.

flock(2) changes a lock by giving it up and taking it anew, and another process may come in between.
So every change is made behind a second lock, the gate (`-gate`), which is held for no longer than
that. A lock that is taken anew may follow a process that was alone and died: `recover` is called
behind the gate, before anything else is done, and writes down what that process left.

No lock is waited for in here but when a ledger is opened, and then not for ever.
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
    def __init__(self, path: str, recover: Callable[[], None] = lambda: None) -> None:
        self._path = path
        self._knock = f"{path}-knock"
        self._recover = recover
        self._fd = _opened(f"{path}-owner")
        self._gate = _opened(f"{path}-gate")
        self.alone = False
        self.was_first = False
        """Whether no other process had the ledger open when this one came."""
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
            self._recover()
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
        """False if another process is there, or is just coming. A process that only looks whether
        another is alone holds the lock, too, but for no longer than that."""
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
                self._recover()
                self.alone = True
                return True
            # A lock that could not be changed is gone. Nobody can be alone: they would need the
            # gate. (But for a process of an older version, which knows no gate.)
            is_back = try_lock(self._fd, fcntl.LOCK_SH)
        if not is_back:
            self._join()
        return False

    @property
    def knocked(self) -> bool:
        return os.path.exists(self._knock)

    def share(self) -> bool:
        """False if the gate is in use: then it is as before, and can be tried again."""
        with self._behind_the_gate() as may_change:
            if may_change and try_lock(self._fd, fcntl.LOCK_SH):
                self.alone = False
        return not self.alone

    def close(self) -> None:
        os.close(self._fd)
        os.close(self._gate)


def is_somebody_alone(path: str) -> bool:
    """For a process that stays outside."""
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
