"""Reads ranges of objects in an executor. A store is opened once per Python worker; a remote one is
read ahead."""

import asyncio
import os
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import lru_cache
from typing import Protocol
from urllib.parse import urlsplit

from samsa.log.extents import read
from samsa.ports import Buffer, Missing, Objects
from samsa.records.batch import shift_offsets
from samsa.runtime.store_urls import open_objects

from .access import check_objects
from .splits import ByteRun

MOST_OPEN = 64
AHEAD_BYTES, AHEAD_REQUESTS = 32 * 1024 * 1024, 32
"""What is prefetched from a remote store."""
PATIENCE_S = 120.0

Get = Callable[[], Buffer]
"""Returns the bytes of a run, and waits for them. Raises Missing, also for bytes that are left in
the ledger."""


class RangeSource(Protocol):
    def each(self, runs: Sequence[ByteRun]) -> Iterator[tuple[ByteRun, Get]]: ...


class LocalFiles:
    """Objects in a folder."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._open: OrderedDict[str, int] = OrderedDict()
        self._buffer = bytearray()

    def each(self, runs: Sequence[ByteRun]) -> Iterator[tuple[ByteRun, Get]]:
        for run in runs:
            yield run, lambda run=run: self._read(run)  # type: ignore[misc]

    def _read(self, run: ByteRun) -> Buffer:
        """Reads into memory that the next read uses again: fresh pages cost more than reading."""
        _raise_if_left(run)
        key, start, length, _, shift, data = run.stored
        into: Buffer = data
        if not data:
            if len(self._buffer) < length:
                self._buffer = bytearray(length)
            into = memoryview(self._buffer)[:length]
            if os.preadv(self._fd(key), [into], start) != length:
                raise Missing(f"{key} ends before {start + length}")
        return shift_offsets(into, shift) if shift else into

    def _fd(self, key: str) -> int:
        fd = self._open.pop(key, None)
        if fd is not None and os.fstat(fd).st_nlink == 0:
            os.close(fd)  # it was deleted; another object of this name is another file
            fd = None
        if fd is None:
            try:
                fd = os.open(f"{self._root}/{key}", os.O_RDONLY)
            except FileNotFoundError:
                raise Missing(key) from None
        self._open[key] = fd
        while len(self._open) > MOST_OPEN:
            os.close(self._open.popitem(last=False)[1])
        return fd

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        # Bound early: when the interpreter exits, `os` may be gone before this is.
        for fd in self._open.values():
            close(fd)


class RemoteFiles:
    """Objects over a network: many requests at once, in an event loop in a thread."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=_run, args=[self._loop], name="objects", daemon=True).start()

    def each(self, runs: Sequence[ByteRun]) -> Iterator[tuple[ByteRun, Get]]:
        left = deque(runs)
        asked: deque[tuple[ByteRun, Future[Buffer]]] = deque()
        size = 0
        try:
            while left or asked:
                while left and len(asked) < AHEAD_REQUESTS and (size < AHEAD_BYTES or not asked):
                    run = left.popleft()
                    asked.append((run, self._ask(run)))
                    size += run.stored.length
                run, answer = asked.popleft()
                yield run, lambda answer=answer: answer.result(PATIENCE_S)  # type: ignore[misc]
                size -= run.stored.length
        finally:
            for _, answer in asked:
                answer.cancel()

    def _ask(self, run: ByteRun) -> "Future[Buffer]":
        return asyncio.run_coroutine_threadsafe(self._read(run), self._loop)

    async def _read(self, run: ByteRun) -> Buffer:
        _raise_if_left(run)
        return await read(self._objects, run.stored)

    def __del__(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)


def _raise_if_left(run: ByteRun) -> None:
    if run.is_left_in_ledger:
        raise Missing(f"{run.where}: [{run.first}, {run.end}) are in the ledger")


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


@lru_cache(maxsize=8)
def source(url: str) -> RangeSource:
    """The store at this URL, open for as long as the worker lives. Of many stores the one used
    longest ago is dropped; a reader that still uses it may go on."""
    check_objects(url)
    parts = urlsplit(url)
    if parts.scheme == "file":
        return LocalFiles(parts.path)
    return RemoteFiles(open_objects(url, fsync=False, cache_bytes=0))
