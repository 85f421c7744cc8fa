"""Write files completely, make them durable, and take locks without waiting."""

import errno
import fcntl
import os
from collections.abc import Sequence

from samsa.ports import Buffer

IOV_MAX = 1024
INLINE_BYTES = 256 * 1024
"""Up to this size, write in the event loop, however slow the disk is: a thread costs as much."""


def write_all_at(fd: int, parts: Sequence[Buffer], position: int) -> None:
    """Write all parts, one after the other, from `position` on."""
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
    """Never waits: it is called in the event loop, and the lock's holder may need the same loop to
    release it."""
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def sync_file(path: str) -> None:
    """Make durable what any process has written to a file. A missing file is no error."""
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
        if error.errno != errno.EINVAL:  # the file system does not sync folders
            raise
    finally:
        os.close(fd)


def sync_folders(folder: str, root: str) -> None:
    """Make the names durable in `folder`, in `root` above it, and in all folders between. Any of
    them may be new, and made by another process that does not sync."""
    while folder != root:
        sync_folder(folder)
        folder = os.path.dirname(folder)
    sync_folder(root)


def sync_path_to(path: str) -> None:
    """Make all names on the way to a path durable, up to the root of the file system. It stops at a
    folder that we may not read: we did not make it."""
    while (parent := os.path.dirname(path)) != path:
        try:
            sync_folder(parent)
        except PermissionError:
            return
        path = parent
