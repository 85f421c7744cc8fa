"""Deletes windows that no partition names any more.

A window is put before the heads of its partitions name it. So it is treated like other orphans.
First, find the listed windows that no partition names. Second, count a sweep in every head that may
still come to name them. Third, check again: a window that is not named now never will be.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence

from samsa.ports import Missing, Partition, UnknownPartition, has_passed
from samsa.ports.windows import WINDOWS, WindowRow, directory_size, put_at, read_directory

from .stores import Stores
from .sweep import Sweeper

AT_ONCE = 5_000
"""Windows that are checked together."""
GETS = 32
"""Directories that are read at the same time."""
Directories = dict[str, list[WindowRow]]


class WindowSweeper:
    def __init__(self, stores: Stores, sweeper: Sweeper) -> None:
        self._stores = stores
        self._sweeper = sweeper

    async def sweep(self) -> int:
        """One pass over the old windows; how many were deleted."""
        gone, some = 0, list[str]()
        async for key in self._old():
            some.append(key)
            if len(some) == AT_ONCE:
                gone += await self._sweep(some)
                some = []
        return gone + await self._sweep(some)

    async def _sweep(self, keys: Sequence[str]) -> int:
        dead = await self._unnamed(await self._directories(keys))
        for partition in _partitions(dead.values()):
            try:
                await self._stores.journal.count_sweep(partition)
            except UnknownPartition:
                continue  # its topic is deleted: no commit can happen there any more
        dead = await self._unnamed(dead)
        await self._sweeper.delete(list(dead))
        return len(dead)

    async def _old(self) -> AsyncIterator[str]:
        """Only old windows: younger ones may be about to be committed, and a sweep would force
        their writers to put them again. Keys begin with the time, so the list is in that order."""
        now, after = self._stores.clock.now_ms(), self._stores.limits.leave_window_ms
        async for key in self._stores.objects.list(WINDOWS):
            if not has_passed(now, put_at(key), after):
                return
            yield key

    async def _directories(self, keys: Sequence[str]) -> Directories:
        found: Directories = {}
        for start in range(0, len(keys), GETS):
            some = keys[start : start + GETS]
            for key, rows in zip(some, await asyncio.gather(*map(self._rows, some)), strict=True):
                if rows:
                    found[key] = rows
        return found

    async def _rows(self, key: str) -> list[WindowRow]:
        get = self._stores.objects.get
        try:
            return read_directory(await self._stores.retry(get, key, 0, directory_size(key)))
        except Missing:
            return []  # another janitor was faster

    async def _unnamed(self, windows: Directories) -> Directories:
        named: set[str] = set()
        for partition, guess in _partitions(windows.values()).items():
            try:
                named |= await self._sweeper.named(partition, guess)
            except UnknownPartition:
                continue
        return {key: rows for key, rows in windows.items() if key not in named}


def _partitions(directories: Iterable[list[WindowRow]]) -> dict[Partition, int]:
    """Each with the lowest offset that was guessed for it."""
    lowest: dict[Partition, int] = {}
    for partition, guess in (row for rows in directories for row in rows):
        lowest[partition] = min(guess, lowest.get(partition, guess))
    return lowest
