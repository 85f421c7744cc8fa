"""Files that only their owner may read: the data of a secured broker, and ledgers with users."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OTHERS = 0o077
"""The permissions of all but the owner."""
OURS = {"objects", "security"}


class OpenFolder(OSError):
    """Others may read the folder, and it cannot be closed. The text says what to do."""


@contextmanager
def private_files() -> Iterator[None]:
    """What is made meanwhile, in all threads, is for the owner only."""
    before = os.umask(OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def close_folder(folder: Path) -> None:
    """Close it to others. Raises OpenFolder if other programs have files in it, or if it is another
    user's."""
    found = folder.stat()
    if not found.st_mode & OTHERS:
        return
    advice = "With --secure choose a folder of its own with --data"
    if not all(_is_ours(each.name) for each in folder.iterdir()):
        raise OpenFolder(f"{folder} is open to other users, and has other files in it. {advice}")
    if found.st_uid != os.geteuid():
        raise OpenFolder(f"{folder} is open to other users, and belongs to another one. {advice}")
    folder.chmod(0o700)


def _is_ours(name: str) -> bool:
    return name in OURS or name.startswith("ledger.db")
