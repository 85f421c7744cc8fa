"""Packs of a simulation: the real ones, in a folder of their own, small, and watched."""

import os
import shutil
import tempfile

from samsa.local.packs import Packs

from .truth import Truth

MEMORY = "/dev/shm"


class PackFolder:
    """The files of one schedule, made when the first is wanted."""

    def __init__(self) -> None:
        self._path = ""

    @property
    def path(self) -> str:
        if not self._path:
            self._path = tempfile.mkdtemp(dir=MEMORY if os.path.isdir(MEMORY) else None)
        return self._path

    def read(self, key: str) -> bytes | None:
        try:
            with open(f"{self.path}/{key}", "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def remove(self) -> None:
        if self._path:
            shutil.rmtree(self._path)


class WatchedPacks(Packs):
    def __init__(self, root: str, process: str, truth: Truth) -> None:
        super().__init__(root, process)
        self._truth = truth

    def delete(self, key: str) -> None:
        super().delete(key)
        self._truth.deleted(key)

    def crash(self) -> None:
        """The kernel closes what a process had open, and so unlocks it."""
        for pack in self._packs.values():
            self._close(pack)
