"""Packs: append-only files that hold many appends each.

With one file per append, each append would cost an inode, and each read an open file. A pack is
written by one process, for one partition, from start to end. Appends that are adjacent in the log
are mostly adjacent in the pack.

A pack's name starts with the partition's next offset at its creation; all its appends are at or
above that offset. Only the index knows its last offset, because appends may be committed in another
order than they were written. Bytes that were written and never committed stay in it unused.

The writing process holds a shared lock on its pack until its appends are committed. A locked pack
is not deleted. A sweeper, of this process or another, locks a pack while it looks for it in the
index. No process waits for these locks: a writer that finds its pack locked starts the next one.

With `fsync` an append counts as written when its bytes, its file name and its folders' names are on
the disk. After a failed sync nothing more is written to that pack: the kernel drops the pages that
it could not write, and a later sync of the same file would succeed without them.
"""

import errno
import fcntl
import os
import shutil
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from samsa.local.files import sync_folders, try_lock, write_all_at
from samsa.ports import Buffer, Partition

PACK_BYTES = 64 * 1024 * 1024
MOST_OPEN = 256
NEW_TRIES = 8
"""A sweeper may find and lock a new pack before its writer can lock it."""


def _folder(partition: Partition) -> str:
    return f"pack/{partition.topic_id}/{partition.number}"


class Pack:
    __slots__ = (
        "broken",
        "end",
        "fd",
        "first",
        "inode",
        "is_left",
        "key",
        "named",
        "seen_in",
        "users",
    )

    def __init__(self, key: str, first: int, fd: int) -> None:
        self.key = key
        self.first = first
        self.fd = fd
        self.inode = os.fstat(fd).st_ino
        self.seen_in = 0
        """The round in which its path was checked last (`look_again`)."""
        self.end = 0
        """Where the next append goes."""
        self.users = 0
        """How many appends are being written to it, or wait for their commit."""
        self.is_left = False
        """Whether it is closed as soon as it has no users."""
        self.named = False
        """Whether its name and its folders' names are durable."""
        self.broken = False
        """Whether a sync has failed."""


class PackPosition(NamedTuple):
    """Where an append's bytes go."""

    pack: Pack
    start: int


class Packs:
    def __init__(self, root: str, process: str, fsync: bool = False) -> None:
        """`process` is a unique word of this process, without a dash."""
        self._root = root
        self._fsync = fsync
        self._process = process
        self._made = 0
        self._round = 1
        self._packs: dict[Partition, Pack] = {}
        self._open: OrderedDict[Partition, Pack] = OrderedDict()

    def place(self, partition: Partition, base: int, size: int) -> PackPosition:
        """Reserve room for an append. The caller writes there, then calls `keep` or `give_back`."""
        pack = self._open.get(partition) or self._reopened(partition)
        if pack is not None and (pack.broken or not self._is_there(pack)):
            pack = None
        if pack is None or (pack.end and pack.end + size > PACK_BYTES):
            self._leave_for_next(partition)
            pack = self._new(partition, base)
        start = pack.end
        pack.end += size
        pack.users += 1
        return PackPosition(pack, start)

    def look_again(self) -> None:
        """Check each pack's path once more before the next write to it. A check at every append
        took a twentieth of the append's time. And if a file is removed under a running broker, more
        is lost than the appends until the next check."""
        self._round += 1

    def _is_there(self, pack: Pack) -> bool:
        """Without this check, a moved or deleted file could be written to, and never be found."""
        if pack.seen_in == self._round:
            return True
        pack.seen_in = self._round
        try:
            return os.stat(f"{self._root}/{pack.key}").st_ino == pack.inode
        except (FileNotFoundError, NotADirectoryError):
            return False

    def write(self, place: PackPosition, parts: Sequence[Buffer]) -> None:
        """May run in any thread."""
        write_all_at(place.pack.fd, parts, place.start)
        if self._fsync:
            self._sync(place.pack)

    def _sync(self, pack: Pack) -> None:
        try:
            os.fdatasync(pack.fd)
            if not pack.named:
                folder = os.path.dirname(f"{self._root}/{pack.key}")
                sync_folders(folder, self._root)
                pack.named = True
        except OSError:
            pack.broken = True
            raise

    def keep(self, place: PackPosition) -> None:
        self._release(place.pack)

    def give_back(self, place: PackPosition, size: int) -> None:
        """Call it only if it is certain that nothing was committed there."""
        if place.pack.end == place.start + size:
            place.pack.end = place.start
        self._release(place.pack)

    def _release(self, pack: Pack) -> None:
        pack.users -= 1
        if pack.is_left and not pack.users:
            self._close(pack)

    def leave(self, partition: Partition) -> None:
        """Stop writing to the partition's pack. A descriptor that a thread writes to stays open:
        after a close, its number could become that of another file."""
        pack = self._packs.pop(partition, None)
        self._open.pop(partition, None)
        if pack is not None:
            pack.is_left = True
            if not pack.users:
                self._close(pack)

    def _leave_for_next(self, partition: Partition) -> None:
        pack = self._packs.get(partition)
        self.leave(partition)
        if pack is not None and pack.broken and not pack.end:
            self.delete(pack.key)  # while a disk fails, each try would leave an empty file

    def _new(self, partition: Partition, base: int) -> Pack:
        for _ in range(NEW_TRIES):
            self._made += 1
            key = f"{_folder(partition)}/{base:020d}-{self._process}-{self._made}"
            fd = self._created(partition, key)
            if self._is_ours(fd):
                pack = self._packs[partition] = Pack(key, base, fd)
                self._opened(partition, pack)
                return pack
        raise OSError(errno.EAGAIN, "every new pack is locked by a sweeper")

    def _created(self, partition: Partition, key: str) -> int:
        try:
            return self._create(key)
        except FileNotFoundError:  # no folder yet, or a sweeper has just removed it
            os.makedirs(f"{self._root}/{_folder(partition)}", exist_ok=True)
            return self._create(key)

    def _create(self, key: str) -> int:
        return os.open(f"{self._root}/{key}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)

    @staticmethod
    def _is_ours(fd: int) -> bool:
        """Whether it could be locked, and was not deleted before that. If not, it is closed."""
        ours = False
        try:
            ours = try_lock(fd, fcntl.LOCK_SH) and os.fstat(fd).st_nlink > 0
        finally:
            if not ours:
                os.close(fd)
        return ours

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
        """A pack that was closed because too many were open, if it still exists."""
        pack = self._packs.get(partition)
        if pack is None:
            return None
        try:
            fd = os.open(f"{self._root}/{pack.key}", os.O_WRONLY)
        except FileNotFoundError:
            return None
        if not self._is_ours(fd):
            return None
        pack.fd = fd
        self._opened(partition, pack)
        return pack

    @staticmethod
    def _close(pack: Pack) -> None:
        if pack.fd >= 0:
            os.close(pack.fd)
            pack.fd = -1

    def tidy(self, partition: Partition, below: int) -> None:
        """Stop writing to our own pack if it begins below `below`: it can be deleted sooner."""
        pack = self._packs.get(partition)
        if pack is not None and not pack.users and pack.first < below:
            self.leave(partition)

    def begun_below(self, partition: Partition, below: int) -> list[str]:
        """Keys of packs that were made for an offset below `below`, the oldest first."""
        folder = _folder(partition)
        try:
            names = sorted(os.listdir(f"{self._root}/{folder}"))
        except FileNotFoundError:
            return []
        return [f"{folder}/{name}" for name in names if int(name.partition("-")[0]) < below]

    def lock(self, key: str) -> int | None:
        """A descriptor with an exclusive lock on a pack. None if it is gone or being written to."""
        try:
            fd = os.open(f"{self._root}/{key}", os.O_RDONLY)
        except FileNotFoundError:
            return None
        if try_lock(fd, fcntl.LOCK_EX):
            return fd
        os.close(fd)
        return None

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
            return  # the folder has other packs

    def bury(self, topic_id: UUID) -> None:
        for partition in [p for p in self._packs if p.topic_id == topic_id]:
            if not self._packs[partition].users:
                self.leave(partition)
        shutil.rmtree(f"{self._root}/pack/{topic_id}", ignore_errors=True)

    def close(self) -> None:
        for partition in list(self._packs):
            self.leave(partition)
