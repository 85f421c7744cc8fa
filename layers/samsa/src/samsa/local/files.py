"""Writing files whole, making them durable, and locks that are never waited for."""

import errno
import fcntl
import os
from collections.abc import Sequence

from samsa.ports import Buffer

IOV_MAX = 1024
INLINE_BYTES = 256 * 1024
"""So much is written in the event loop however slow the disk is: a thread would cost as much."""


def write_all_at(fd: int, parts: Sequence[Buffer], position: int) -> None:
    """All parts, one after the other, from a position on."""
    total, written = sum(map(len, parts)), os.pwritev(fd, parts[:IOV_MAX], position)
    if written == total:
        return
    for part in parts:
        view = memoryview(part)
        skip = min(written, len(view))
        written -= skip
        position += skip
        view = view[skip:]
        while view:
            count = os.pwrite(fd, view, position)
            position += count
            view = view[count:]


def try_lock(fd: int, kind: int) -> bool:
    """Never waits: a lock is asked for in the event loop, and its holder may need that very loop
    to let it go."""
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def sync_file(path: str) -> None:
    """Make durable what any process has written to a file. One that is not there has nothing."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_folder(folder: str) -> None:
    """Make the names in a folder durable."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that has nothing to do here
            raise
    finally:
        os.close(fd)


def sync_folders(folder: str, root: str) -> None:
    """The same for a folder below `root`, for `root`, and for all between the two. Any of them
    may be new, and made by another process, which does not sync."""
    while folder != root:
        sync_folder(folder)
        folder = os.path.dirname(folder)
    sync_folder(root)


def sync_path_to(path: str) -> None:
    """Make the names durable that lead to a path, from the top of the file system on. What may
    not be read was not made by us."""
    while (parent := os.path.dirname(path)) != path:
        try:
            sync_folder(parent)
        except PermissionError:
            return
        path = parent
