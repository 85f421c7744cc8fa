"""Packs: append-only files that hold many slots each.

A file per slot costs an inode per append, and a file to open per slot that is read. A pack costs
neither: it is written by one process, for one partition, from its start to its end, and what
follows in the log mostly follows in the pack.

The process that writes a pack holds a shared lock on it, and nobody deletes a pack that is locked.
A process leaves a pack for good when it starts the next, so of the packs of one process all but the
last end where the next one starts. What was written and never committed is dead weight.
"""

import fcntl
import os
import shutil
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from uuid import UUID

from samsa.local.files import sync_folder, write_all_at
from samsa.ports import Buffer, Partition

PACK_BYTES = 64 * 1024 * 1024
MOST_OPEN = 256


def _folder(partition: Partition) -> str:
    return f"pack/{partition.topic_id}/{partition.number}"


class PackName(NamedTuple):
    key: str
    first: int
    """The offset that it was made for: all in it are at or above."""
    process: str
    number: int
    """Among all that its process made."""


class Pack:
    __slots__ = ("end", "fd", "first", "inode", "key", "seen_in", "users")

    def __init__(self, key: str, first: int, fd: int) -> None:
        self.key = key
        self.first = first
        self.fd = fd
        self.inode = os.fstat(fd).st_ino
        self.seen_in = 0
        """In which round it was last found at its path."""
        self.end = 0
        """Where the next slot goes."""
        self.users = 0


class Place(NamedTuple):
    """Where a slot's bytes go."""

    pack: Pack
    start: int


class Packs:
    def __init__(self, root: str, process: str, fsync: bool = False) -> None:
        """`process` is a word, without a dash, that no other process ever uses."""
        self._root = root
        self._fsync = fsync
        self._process = process
        self._made = 0
        self._round = 1
        self._packs: dict[Partition, Pack] = {}
        self._open: OrderedDict[Partition, Pack] = OrderedDict()

    def place(self, partition: Partition, base: int, size: int) -> Place:
        """Room for a slot. The caller writes there, and then gives the place back or keeps it."""
        pack = self._open.get(partition) or self._reopened(partition)
        if pack is not None and not self._is_there(pack):
            pack = None
        if pack is None or (pack.end and pack.end + size > PACK_BYTES):
            self.leave(partition)
            pack = self._new(partition, base)
        start = pack.end
        pack.end += size
        pack.users += 1
        return Place(pack, start)

    def look_again(self) -> None:
        """From now on each pack is looked for at its path once more before it is written to. To do
        so with every slot was a twentieth of an append, and who takes a file away under a broker
        has taken more than what is written meanwhile."""
        self._round += 1

    def _is_there(self, pack: Pack) -> bool:
        """A file that was moved or deleted can still be written to, and nobody would find it."""
        if pack.seen_in == self._round:
            return True
        pack.seen_in = self._round
        try:
            return os.stat(f"{self._root}/{pack.key}").st_ino == pack.inode
        except (FileNotFoundError, NotADirectoryError):
            return False

    def write(self, place: Place, parts: Sequence[Buffer]) -> None:
        """In any thread."""
        write_all_at(place.pack.fd, parts, place.start)
        if self._fsync:
            os.fdatasync(place.pack.fd)

    def keep(self, place: Place) -> None:
        place.pack.users -= 1

    def give_back(self, place: Place, size: int) -> None:
        """Nothing was stored there, for certain."""
        place.pack.users -= 1
        if place.pack.end == place.start + size:
            place.pack.end = place.start

    def leave(self, partition: Partition) -> None:
        """Write no more to the partition's pack."""
        pack = self._packs.pop(partition, None)
        self._open.pop(partition, None)
        if pack is not None:
            self._close(pack)

    def _new(self, partition: Partition, base: int) -> Pack:
        self._made += 1
        key = f"{_folder(partition)}/{base:020d}-{self._process}-{self._made}"
        try:
            fd = self._create(key)
        except FileNotFoundError:  # no folder yet, or a sweeper just found it empty
            os.makedirs(f"{self._root}/{_folder(partition)}", exist_ok=True)
            fd = self._create(key)
        fcntl.flock(fd, fcntl.LOCK_SH)
        if self._fsync:
            sync_folder(f"{self._root}/{_folder(partition)}")
        pack = self._packs[partition] = Pack(key, base, fd)
        self._opened(partition, pack)
        return pack

    def _create(self, key: str) -> int:
        return os.open(f"{self._root}/{key}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)

    def _opened(self, partition: Partition, pack: Pack) -> None:
        self._open[partition] = pack
        while len(self._open) > MOST_OPEN:
            oldest, other = next(iter(self._open.items()))
            if other.users:
                self._open.move_to_end(oldest)
                return
            del self._open[oldest]
            self._close(other)

    def _reopened(self, partition: Partition) -> Pack | None:
        """A pack that was closed to make room for others, if it is still there."""
        pack = self._packs.get(partition)
        if pack is None:
            return None
        try:
            pack.fd = os.open(f"{self._root}/{pack.key}", os.O_WRONLY)
        except FileNotFoundError:
            return None
        fcntl.flock(pack.fd, fcntl.LOCK_SH)
        if os.fstat(pack.fd).st_nlink == 0:
            self._close(pack)  # swept between the two calls
            return None
        self._opened(partition, pack)
        return pack

    @staticmethod
    def _close(pack: Pack) -> None:
        if pack.fd >= 0:
            os.close(pack.fd)
            pack.fd = -1

    def tidy(self, partition: Partition, below: int) -> None:
        """Leave our own pack if part of it is dead: it can be deleted sooner."""
        pack = self._packs.get(partition)
        if pack is not None and not pack.users and pack.first < below:
            self.leave(partition)

    def dead(self, partition: Partition, below: int) -> tuple[list[str], list[str]]:
        """Keys of packs that hold nothing at or above `below`; and of those of which only the
        index can tell, because each is the last of its process."""
        surely: list[str] = []
        perhaps: list[str] = []
        later: dict[str, int] = {}
        for name in sorted(self._names(partition), key=lambda name: name.number, reverse=True):
            end = later.get(name.process)
            later[name.process] = name.first
            if end is None and name.first < below:
                perhaps.append(name.key)
            elif end is not None and end <= below:
                surely.append(name.key)
        return surely, perhaps

    def _names(self, partition: Partition) -> Iterator[PackName]:
        folder = _folder(partition)
        try:
            entries = os.listdir(f"{self._root}/{folder}")
        except FileNotFoundError:
            return
        for entry in entries:
            first, process, number = entry.split("-")
            yield PackName(f"{folder}/{entry}", int(first), process, int(number))

    def lock(self, key: str) -> int | None:
        """A descriptor that keeps everybody from writing to a pack, if nobody does."""
        try:
            fd = os.open(f"{self._root}/{key}", os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return None
        return fd

    def exists(self, key: str) -> bool:
        return os.path.exists(f"{self._root}/{key}")

    def delete(self, key: str) -> None:
        try:
            os.unlink(f"{self._root}/{key}")
        except FileNotFoundError:
            return
        try:
            os.rmdir(f"{self._root}/{key.rpartition('/')[0]}")
        except OSError:
            return  # others are there

    def bury(self, topic_id: UUID) -> None:
        for partition in [p for p in self._packs if p.topic_id == topic_id]:
            if not self._packs[partition].users:
                self.leave(partition)
        shutil.rmtree(f"{self._root}/pack/{topic_id}", ignore_errors=True)

    def close(self) -> None:
        for partition in list(self._packs):
            self.leave(partition)
