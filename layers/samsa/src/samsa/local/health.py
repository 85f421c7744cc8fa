"""Disk health: full, read-only and broken disks are detected, and logged once for each episode.

An episode begins with the first write that the disk refuses. It is logged in one line, which names
the folder and says what to do. During an episode appends are refused without a try; except if the
disk is broken or a file may not grow, because other writes may succeed then. The episode ends when
the *reserve*, a file of 8 MiB beside the ledger that is never read, can be written, and as much
again is free. That is logged in one line too. The next append tries this, at most once a second.

When the disk is full, the reserve is deleted. Its room is for work that frees more room (retention,
deletion of records and topics, sweeps) and for what clients must still be able to do (offset
commits, heartbeats): each of these writes to SQLite.
"""

import asyncio
import errno
import logging
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter

from samsa.ports import StorageError, Unavailable

log = logging.getLogger("samsa.storage")
RESERVE_BYTES = 8 * 1024 * 1024
AGAIN_BYTES = 2 * RESERVE_BYTES
"""This much must be free before appends go on: room for the reserve, which is deleted at that time,
and as much again, or the next append would be refused."""
PROBE_S, PROBE_MOST_S = 1.0, 60.0
"""Between two tries; longer if episodes follow each other closely, so that a disk that fails now
and then does not fill the log."""
FULL, READ_ONLY, BROKEN, DAMAGED = "full", "read-only", "broken", "damaged"
LIMITED = "limited"
PERHAPS = {BROKEN, LIMITED}
"""In these episodes other writes may succeed, so appends are tried."""

_OF_FILES = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EFBIG: LIMITED,
    errno.EROFS: READ_ONLY,
    errno.EACCES: READ_ONLY,
    errno.EPERM: READ_ONLY,
    errno.EIO: BROKEN,
}
_OF_SQLITE = {
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_IOERR: BROKEN,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: DAMAGED,
}
WHAT = {
    FULL: "the disk is full",
    READ_ONLY: "the disk is not writable",
    BROKEN: "the disk fails",
    DAMAGED: "the ledger is damaged",
    LIMITED: "a file may not grow",
}
TO_DO = {
    FULL: "make room there: delete topics or records, lower retention.ms or retention.bytes, or "
    f"free other files. Appends go on by themselves when {AGAIN_BYTES >> 20} MiB are free",
    READ_ONLY: "see who owns the folder and how it is mounted, and the kernel's log (dmesg). "
    "Appends go on by themselves when it can be written",
    BROKEN: "see the kernel's log (dmesg), and copy the folder elsewhere before anything else. "
    "Appends go on by themselves when it can be written",
    LIMITED: "raise the limit on the size of files (ulimit -f)",
    DAMAGED: "stop the broker and restore the folder from a copy",
}


def reserve_of(path: str) -> str:
    """The path of the reserve, beside a ledger or a folder of objects."""
    return f"{path}-reserve"


def kind_of(error: OSError | sqlite3.Error) -> str | None:
    """None if the error does not come from the disk."""
    if isinstance(error, OSError):
        return _OF_FILES.get(error.errno or 0)
    return _OF_SQLITE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)


class DiskHealth:
    def __init__(self, folder: str, path: str, clock: Callable[[], float] = perf_counter) -> None:
        """The reserve is beside `path`."""
        self.folder = folder
        self.trouble: str | None = None
        """The kind of the current episode, None if there is none."""
        self.failures = 0
        """Writes that the disk refused, or that were refused because of an episode."""
        self._reserve = reserve_of(path)
        self._clock = clock
        self._probe_at = 0.0
        self._pause = PROBE_S
        self._ended_at = -PROBE_MOST_S
        self._since = (0.0, 0)

    def failed(self, error: OSError | sqlite3.Error, doing: str) -> Unavailable:
        """Record a failed write. Returns the exception to raise."""
        kind = self._kind_of(error)
        text = (error.strerror if isinstance(error, OSError) else None) or str(error)
        if kind is None:
            return Unavailable(f"{doing}: {text}")
        self.failures += 1
        if kind == FULL:
            self.give_up_reserve()
        if self.trouble is None:
            self._begin(kind, f"{doing}: {text}")
        return StorageError(f"{WHAT[kind]}: {doing}: {text}")

    def _kind_of(self, error: OSError | sqlite3.Error) -> str | None:
        """SQLite reports an I/O error also when there is no room for its shared memory."""
        kind = kind_of(error)
        if kind == BROKEN and isinstance(error, sqlite3.Error):
            with suppress(OSError):
                room = os.statvfs(self.folder)
                return FULL if room.f_bavail * room.f_frsize < RESERVE_BYTES else BROKEN
        return kind

    def _begin(self, kind: str, why: str) -> None:
        now = self._clock()
        follows = now - self._ended_at < PROBE_MOST_S
        self._pause = min(2 * self._pause, PROBE_MOST_S) if follows else PROBE_S
        self.trouble = kind
        self._since = now, self.failures
        self._probe_at = now + self._pause
        fields = {"folder": self.folder, "why": why, "do": TO_DO[kind]}
        log.error(WHAT[kind], extra={"fields": fields})

    async def check(self) -> None:
        """Call it before an append while `trouble` is set. Raises StorageError."""
        now = self._clock()
        if now >= self._probe_at:
            self._probe_at = now + self._pause
            if await asyncio.to_thread(self._make_reserve, AGAIN_BYTES) is None:
                self._end()
        if self.trouble is not None and self.trouble not in PERHAPS:
            self.failures += 1
            raise StorageError(f"{WHAT[self.trouble]}; see the broker's log")

    def _end(self) -> None:
        if self.trouble is None:
            return
        self.trouble, self._ended_at = None, self._clock()
        began, failures = self._since
        fields = {
            "folder": self.folder,
            "seconds": round(self._ended_at - began, 1),
            "refused": self.failures - failures + 1,
        }
        log.warning("the disk takes writes again", extra={"fields": fields})

    async def keep_reserve(self) -> None:
        """Call it at start. If there is no room for the reserve, an episode begins."""
        error = await asyncio.to_thread(self._make_reserve, RESERVE_BYTES)
        if error is not None:
            self.failed(error, "keeping room for a full disk")

    def _make_reserve(self, room: int) -> OSError | None:
        """The error, if there is not so much room, or if the disk cannot store the reserve."""
        try:
            fd = os.open(self._reserve, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            return error
        try:
            _take_room(fd, room)  # the free space of the disk would not show a quota
            os.ftruncate(fd, RESERVE_BYTES)
            os.fsync(fd)
        except OSError as error:
            self.give_up_reserve()
            return error
        finally:
            os.close(fd)
        return None

    def give_up_reserve(self) -> None:
        with suppress(OSError):
            os.unlink(self._reserve)


def _take_room(fd: int, size: int) -> None:
    os.pwrite(fd, b"this file is never read: it is room for a full disk\n", 0)
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(fd, 0, size)
        return
    for start in range(0, size, 1024 * 1024):
        os.pwrite(fd, bytes(1024 * 1024), start)
