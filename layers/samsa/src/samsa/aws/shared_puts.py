"""Shared puts: one put to S3 with appends to several partitions.

While a put is under way, new appends wait for the next one, which carries all of them in one window
(`ports/windows.py`). A put with a single append is an object of its partition alone.

Small appends stay inline, in their heads. Inline, a kilobyte costs two write units for the head and
two for the index. In an object, each append costs one unit for the head and one for the index, plus
its share of one put, which costs as much as eight units. So if appends wait for each other anyway
(`small_too`), they go to an object once they are larger together than the inline limit of a head.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from samsa.ports import Buffer, Clock, NotDone, Objects, Partition
from samsa.ports.heads import object_key
from samsa.ports.windows import WINDOW_BYTES, WindowRow, directory, window_key

MOST_PUTS = 8
"""Puts under way at the same time. There is more than one only while full windows wait."""


class StoredAt(NamedTuple):
    """Where an append's bytes are."""

    key: str
    start: int


class WaitingPut(NamedTuple):
    row: WindowRow
    entry_id: str
    parts: Sequence[Buffer]
    size: int
    placed: "asyncio.Future[StoredAt | None]"
    room: int


class SharedPuts:
    def __init__(
        self, objects: Objects, nonce: Callable[[], str], clock: Clock, small_too: bool = False
    ) -> None:
        self._small_too = small_too
        self._objects = objects
        self._nonce = nonce
        self._clock = clock
        self._waiting: list[WaitingPut] = []
        self._under_way: set[asyncio.Task[None]] = set()
        self._is_planned = False

    async def put(
        self,
        partition: Partition,
        entry_id: str,
        guess: int,
        parts: Sequence[Buffer],
        room: int,
    ) -> StoredAt | None:
        """None if the append stays inline: the head takes up to `room` bytes. Raises what the put
        raised: NotDone, Unavailable."""
        size = sum(map(len, parts))
        if size <= room and not self._small_too:
            return None
        loop = asyncio.get_running_loop()
        placed: asyncio.Future[StoredAt | None] = loop.create_future()
        self._waiting.append(
            WaitingPut(WindowRow(partition, guess), entry_id, parts, size, placed, room)
        )
        if not self._is_planned:
            self._is_planned = True
            loop.call_soon(self._start)  # later: all appends of this loop turn share the put
        return await placed

    def _start(self) -> None:
        self._is_planned = False
        while self._waiting and self._may_start():
            some = self._take()
            if some:
                task = asyncio.get_running_loop().create_task(self._put(some))
                self._under_way.add(task)
                task.add_done_callback(self._ended)

    def _may_start(self) -> bool:
        if not self._under_way:
            return True
        full = sum(one.size for one in self._waiting) >= WINDOW_BYTES
        return full and len(self._under_way) < MOST_PUTS

    def _take(self) -> list[WaitingPut]:
        """The first appends that fit into one window. Cancelled ones are left out: their memory may
        be in use for something else."""
        some: list[WaitingPut] = []
        size = 0
        while self._waiting:
            one = self._waiting[0]
            if some and size + one.size > WINDOW_BYTES:
                break
            self._waiting.pop(0)
            if not one.placed.done():
                some.append(one)
                size += one.size
        return some

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._under_way.discard(task)
        self._start()

    async def _put(self, some: list[WaitingPut]) -> None:
        """Every waiting append gets a result or the exception."""
        try:
            places = await self._places(some)
        except Exception as error:
            for one in some:
                if not one.placed.done():
                    one.placed.set_exception(error)
        else:
            for one, place in zip(some, places, strict=True):
                if not one.placed.done():
                    one.placed.set_result(place)

    async def _places(self, some: list[WaitingPut]) -> Sequence[StoredAt | None]:
        if sum(one.size for one in some) <= min(one.room for one in some):
            return [None] * len(some)
        if len(some) > 1:
            return await self._put_all(some)
        key = object_key(some[0].row.partition, some[0].entry_id)
        await self._store(key, some[0].parts)
        return [StoredAt(key, 0)]

    async def _put_all(self, some: list[WaitingPut]) -> list[StoredAt]:
        key = window_key(self._clock.now_ms(), len(some), self._nonce())
        parts: list[Buffer] = [directory([one.row for one in some])]
        places: list[StoredAt] = []
        position = len(parts[0])
        for one in some:
            places.append(StoredAt(key, position))
            parts += one.parts
            position += one.size
        await self._store(key, parts)
        return places

    async def _store(self, key: str, parts: Sequence[Buffer]) -> None:
        if not await self._objects.put_if_absent(key, parts):
            raise NotDone(f"{key} is there already")
