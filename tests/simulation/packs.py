"""Packs of a simulation: the real ones, in a folder of their own, small, and watched."""

import os
import shutil
import tempfile

from samsa.local.packs import Pack, Packs
from samsa.ports import Partition

from .truth import Truth

MEMORY = "/dev/shm"


class PackFolder:
    """The files of one schedule, made when the first is wanted."""

    def __init__(self) -> None:
        self._path = ""
        self._packs: list[WatchedPacks] = []

    def packs(self, process: str, truth: Truth) -> "WatchedPacks":
        self._packs.append(WatchedPacks(self.path, process, truth))
        return self._packs[-1]

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
        for packs in self._packs:
            packs.crash()
        if self._path:
            shutil.rmtree(self._path)


class WatchedPacks(Packs):
    def __init__(self, root: str, process: str, truth: Truth) -> None:
        super().__init__(root, process)
        self._truth = truth
        self._all: list[Pack] = []

    def delete(self, key: str) -> None:
        super().delete(key)
        self._truth.deleted(key)

    def crash(self) -> None:
        """The kernel closes what a process had open, and so unlocks it."""
        for pack in self._all:
            self._close(pack)

    def _new(self, partition: Partition, base: int) -> Pack:
        pack = super()._new(partition, base)
        self._all.append(pack)
        return pack
