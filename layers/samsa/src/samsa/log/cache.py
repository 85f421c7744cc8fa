"""A cache of the objects that were written or read last, for object stores over a network.

Consumers ask next for what was written or read last. The cache is bounded in bytes. Objects never
change, so nothing in it is ever stale; a deleted object may stay for a while, which does no harm to
readers. The local folder does not need it: the kernel's page cache does the same.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence

from samsa.ports import Buffer, Objects, Piece

WHOLE_OBJECT = 8 * 1024 * 1024
"""For a range that ends below this, the whole object is fetched: its reader will ask for more."""


class TailCache:
    def __init__(self, objects: Objects, max_bytes: int) -> None:
        self._objects = objects
        self._max_bytes = max_bytes
        self._held: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._loading: dict[str, asyncio.Task[bytes]] = {}
        self.calls = objects.calls
        self.remote = objects.remote

    def _keep(self, key: str, data: bytes) -> None:
        if key in self._held or len(data) > self._max_bytes // 4:
            return
        self._held[key] = data
        self._size += len(data)
        while self._size > self._max_bytes:
            _, dropped = self._held.popitem(last=False)
            self._size -= len(dropped)

    async def put_if_absent(self, key: str, parts: Sequence[Buffer]) -> bool:
        data = b"".join(parts)
        stored = await self._objects.put_if_absent(key, [data])
        if stored:
            self._keep(key, data)
        return stored

    async def put_stream(self, key: str, parts: AsyncIterator[Buffer]) -> None:
        await self._objects.put_stream(key, parts)

    async def get(self, key: str, start: int = 0, length: int | None = None) -> Buffer:
        data = self._held.get(key)
        if data is None:
            return await self._objects.get(key, start, length)
        self._held.move_to_end(key)
        return memoryview(data)[start : None if length is None else start + length]

    async def piece(self, key: str, start: int, length: int) -> Piece:
        data = self._held.get(key)
        if data is not None:
            self._held.move_to_end(key)
        elif start + length > WHOLE_OBJECT:
            return await self._objects.piece(key, start, length)
        else:
            data = await self._load(key)
        return memoryview(data)[start : start + length]

    async def _load(self, key: str) -> bytes:
        """Fetch an object once for all readers that wait for it; none of them can cancel that."""
        task = self._loading.get(key)
        if task is None:
            task = self._loading[key] = asyncio.get_running_loop().create_task(self._fetch(key))
            task.add_done_callback(lambda done: self._loaded(key, done))
        await asyncio.wait([task])
        return task.result()

    async def _fetch(self, key: str) -> bytes:
        data = bytes(await self._objects.get(key))
        self._keep(key, data)
        return data

    def _loaded(self, key: str, task: "asyncio.Task[bytes]") -> None:
        del self._loading[key]
        if not task.cancelled():
            task.exception()  # marks it as retrieved: perhaps no reader waits any more

    async def delete(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._size -= len(self._held.pop(key, b""))
        await self._objects.delete(keys)

    def list(self, prefix: str, below: str | None = None) -> AsyncIterator[str]:
        return self._objects.list(prefix, below)

    async def close(self) -> None:
        await self._objects.close()
