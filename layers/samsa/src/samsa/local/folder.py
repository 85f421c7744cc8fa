"""Objects in a folder: one file per key.

A put is atomic across processes. The bytes go into an unnamed file (`O_TMPFILE`), which is then
linked to its name; link(2) fails if the name exists. If the file system has no unnamed files, a
temporary name is used instead. With `fsync=True` a put returns when the file, its name and its
folders' names are on the disk. A stream is always synced: it is a copy of objects that are deleted
afterwards, and those may be durable even if this process does not `fsync`. For the same reason
objects are deleted only after their removal from the index is durable (`before_delete`).

Small puts run in the event loop, large ones in a thread, so that they do not block the network.
"""

import asyncio
import itertools
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from samsa.local.drafts import Drafts
from samsa.local.files import INLINE_BYTES, sync_folders, sync_path_to, write_all_at
from samsa.local.health import DiskHealth
from samsa.ports import Buffer, FileRange, Missing, Piece, Unavailable

READ_BYTES = 32 * 1024
"""Pieces up to this size are read at once: many of them would be many open files."""


class FolderObjects:
    remote = False

    def __init__(self, root: str, fsync: bool = False, threads: int = 4) -> None:
        self.calls: dict[str, int] = defaultdict(int)
        self.root = str(Path(root).absolute())
        self._fsync = fsync
        self._threads = ThreadPoolExecutor(threads, "objects")
        self._folders: set[str] = set()
        self._numbers = itertools.count()
        self.health = DiskHealth(self.root, self.root)
        self.before_delete: Callable[[], Awaitable[None]] | None = None
        """Makes the change that removed the objects from the index durable."""
        os.makedirs(self.root, exist_ok=True)
        if fsync:
            sync_path_to(self.root)
        self._drafts = Drafts(self.root)

    def _path(self, key: str) -> str:
        return f"{self.root}/{key}"

    async def put_if_absent(self, key: str, parts: Sequence[Buffer]) -> bool:
        self.calls["put"] += 1
        try:
            if not self._fsync and sum(map(len, parts)) <= INLINE_BYTES:
                return self._put(key, parts)
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, self._put, key, parts)
        except OSError as error:
            raise self.health.failed(error, f"put {key}") from error
        finally:
            self._drafts.refill_soon()

    async def put_stream(self, key: str, parts: AsyncIterator[Buffer]) -> None:
        """Write part after part into a file that gets its name only at the end."""
        self.calls["put"] += 1
        if self.health.trouble is not None:
            await self.health.check()
        path = self._path(key)
        folder = path.rpartition("/")[0]
        try:
            self._make_folder(folder)
            fd, draft = self._draft_in(folder)
            try:
                await self._write_parts(fd, parts)
                # If the name exists, an earlier try has linked it: no other writer uses it.
                await self._in_thread(self._link, os.dup(fd), draft, path, [], True)
            finally:
                os.close(fd)
                if not self._drafts.supported:
                    os.unlink(draft)
        except OSError as error:
            self._folders.discard(folder)  # another process may have removed it, empty
            raise self.health.failed(error, f"put {key}") from error

    def _draft_in(self, folder: str) -> tuple[int, str]:
        if self._drafts.supported:
            fd = self._drafts.take()
            return fd, f"/proc/self/fd/{fd}"
        draft = f"{folder}/.draft-{os.getpid()}-{next(self._numbers)}"
        return os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644), draft

    async def _write_parts(self, fd: int, parts: AsyncIterator[Buffer]) -> None:
        position = 0
        async for part in parts:
            await self._in_thread(write_all_at, fd, [part], position)
            position += len(part)

    async def _in_thread(self, call: Callable[..., object], *args: object) -> None:
        """Waits for the end even if the caller is cancelled: the file is closed after that."""
        done = asyncio.get_running_loop().run_in_executor(self._threads, call, *args)
        try:
            await asyncio.wait([done])
        except asyncio.CancelledError:
            await asyncio.wait([done])
            done.exception()  # the caller has been told that it was cancelled
            raise
        done.result()

    def _put(self, key: str, parts: Sequence[Buffer]) -> bool:
        path = self._path(key)
        folder = path.rpartition("/")[0]
        try:
            self._make_folder(folder)
            return self._put_in(folder, path, parts)
        except FileNotFoundError:
            # Another process has emptied and removed the folder meanwhile.
            self._folders.discard(folder)
            self._make_folder(folder)
            return self._put_in(folder, path, parts)

    def _put_in(self, folder: str, path: str, parts: Sequence[Buffer]) -> bool:
        fd, draft = self._draft_in(folder)
        try:
            return self._link(fd, draft, path, parts, self._fsync)
        finally:
            if not self._drafts.supported:
                os.unlink(draft)

    def _link(self, fd: int, draft: str, path: str, parts: Sequence[Buffer], durable: bool) -> bool:
        linked = True
        try:
            write_all_at(fd, parts, 0)
            if durable:
                os.fsync(fd)
            # With a directory descriptor Python calls linkat(2), which can follow /proc's link to
            # an unnamed file; link(2) cannot. The path is absolute, so the descriptor is not used.
            os.link(draft, path, src_dir_fd=fd, follow_symlinks=True)
        except FileExistsError:
            linked = False
        finally:
            os.close(fd)
        if durable:
            # Also if the name existed: an earlier try may have failed at this point.
            sync_folders(os.path.dirname(path), self.root)
        return linked

    def _make_folder(self, folder: str) -> None:
        if folder not in self._folders:
            os.makedirs(folder, exist_ok=True)
            self._folders.add(folder)

    async def get(self, key: str, start: int = 0, length: int | None = None) -> Buffer:
        self.calls["get"] += 1
        fd = self._open(key)
        try:
            size = os.fstat(fd).st_size - start if length is None else length
            return os.pread(fd, max(0, size), start)
        except OSError as error:
            raise Unavailable(f"read {key}: {error.strerror}") from error
        finally:
            os.close(fd)

    async def piece(self, key: str, start: int, length: int) -> Piece:
        if length <= READ_BYTES:
            return await self.get(key, start, length)
        self.calls["get"] += 1
        return FileRange(self._open(key), start, length)

    def _open(self, key: str) -> int:
        try:
            return os.open(self._path(key), os.O_RDONLY)
        except FileNotFoundError:
            raise Missing(key) from None
        except OSError as error:
            raise Unavailable(f"open {key}: {error.strerror}") from error

    async def delete(self, keys: Sequence[str]) -> None:
        self.calls["delete"] += 1
        if self.before_delete is not None:
            await self.before_delete()
        for key in keys:
            try:
                os.unlink(self._path(key))
            except FileNotFoundError:
                continue
            except OSError as error:
                raise Unavailable(f"delete {key}: {error.strerror}") from error
            self._prune(self._path(key).rpartition("/")[0])

    def _prune(self, folder: str) -> None:
        """Remove folders that have become empty, up to the first that is in use."""
        while folder != self.root:
            try:
                os.rmdir(folder)
            except OSError:
                return
            self._folders.discard(folder)
            folder = os.path.dirname(folder)

    async def list(self, prefix: str, below: str | None = None) -> AsyncIterator[str]:
        self.calls["list"] += 1
        folder = prefix.rpartition("/")[0]
        for key in _walk(self._path(folder) if folder else self.root, folder):
            if below is not None and key >= below:
                return
            if key.startswith(prefix):
                yield key

    async def close(self) -> None:
        self._threads.shutdown(wait=True)
        self._drafts.close()


def _walk(path: str, key: str) -> Iterator[str]:
    """Keys in order. Folder names sort as keys do, because no key is also a folder of others."""
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    for entry in entries:
        child = f"{key}/{entry.name}" if key else entry.name
        if entry.is_dir():
            yield from _walk(entry.path, child)
        elif not entry.name.startswith(".draft-"):
            yield child
