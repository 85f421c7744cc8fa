"""What a loss of power would take, as far as Python's own calls to the file system tell.

A file is at risk from a write until it is synced. A name is at risk from its making until its
folder is synced. SQLite syncs by itself, outside of Python.
"""

import os
from collections.abc import Callable
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any

import pytest


class Recorded:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
        self._root = f"{root}/"
        self.unsynced: set[str] = set()
        """Paths of files."""
        self.unnamed: set[str] = set()
        """Paths of files and folders, of which the folder above is not synced."""
        self.events: list[tuple[str, str]] = []
        self.in_loop: list[str] = []
        """What was synced in the event loop."""
        self.failing: dict[str, OSError] = {}
        """What a sync of a path that contains a word fails with."""
        for name in ("open", "mkdir", "link", "pwrite", "pwritev", "unlink", "fsync", "fdatasync"):
            monkeypatch.setattr(os, name, getattr(self, f"_{name}")(getattr(os, name)))

    def _is_below(self, path: str) -> bool:
        return path.startswith(self._root)

    def _open(self, real: Callable[..., int]) -> Callable[..., int]:
        def opened(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
            new = bool(flags & os.O_CREAT) and not os.path.exists(path)
            fd = real(path, flags, *args, **kwargs)
            if new and self._is_below(str(path)):
                self.unnamed.add(str(path))
            return fd

        return opened

    def _mkdir(self, real: Callable[..., None]) -> Callable[..., None]:
        def made(path: Any, *args: Any, **kwargs: Any) -> None:
            real(path, *args, **kwargs)
            if self._is_below(str(path)):
                self.unnamed.add(str(path))

        return made

    def _link(self, real: Callable[..., None]) -> Callable[..., None]:
        def linked(source: str, path: str, **kwargs: Any) -> None:
            behind = os.readlink(source) if source.startswith("/proc/") else source
            real(source, path, **kwargs)
            self.unnamed.add(path)
            if behind in self.unsynced:
                self.unsynced.add(path)
            self.events.append(("link", path))

        return linked

    def _writes(self, real: Callable[..., int]) -> Callable[..., int]:
        def written(fd: int, *args: Any) -> int:
            path = os.readlink(f"/proc/self/fd/{fd}")
            if self._is_below(path):
                self.unsynced.add(path)
            return real(fd, *args)

        return written

    _pwrite = _pwritev = _writes

    def _unlink(self, real: Callable[..., None]) -> Callable[..., None]:
        def unlinked(path: Any, *args: Any, **kwargs: Any) -> None:
            real(path, *args, **kwargs)
            self.events.append(("unlink", str(path)))

        return unlinked

    def _syncs(self, real: Callable[[int], None]) -> Callable[[int], None]:
        def synced(fd: int) -> None:
            path = os.readlink(f"/proc/self/fd/{fd}")
            for word, error in self.failing.items():
                if word in path:
                    raise error
            real(fd)
            if current_thread() is main_thread():
                self.in_loop.append(path)
            self.events.append(("sync", path))
            self.unsynced.discard(path)
            self.unnamed -= {name for name in self.unnamed if os.path.dirname(name) == path}

        return synced

    _fsync = _fdatasync = _syncs

    def at_risk(self, path: str) -> set[str]:
        """Of what leads to a path, and of its bytes."""
        leads = {path, *(str(parent) for parent in Path(path).parents)}
        return (self.unnamed & leads) | (self.unsynced & {path})
