"""Writing files whole."""

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


def sync_folder(folder: str) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
