"""Pieces of a response that stay in S3: the response names them, and the shim gets them itself.

With ACLs a piece of a window does not: a window holds appends to several topics, and a client with
a URL of it might read all of them. The URL is signed for its range, but S3 answers a GET that has
an `If-Range` of another ETag with the whole object, and that header may be added unsigned. All
other objects hold the records of one partition.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from samsa.ports import Buffer, Objects
from samsa.ports.windows import WINDOWS


@dataclass(frozen=True, slots=True)
class ObjectRange:
    """A range of an object, in the place of its bytes; `len` is the number of these bytes."""

    key: str
    start: int
    length: int
    shift: int = 0
    """After the GET, the shim or `ReplyTexts` adds this to the offsets of the batches in it."""

    def shifted(self, shift: int) -> "ObjectRange":
        return replace(self, shift=shift)

    def parts(self, largest: int) -> "Iterator[ObjectRange]":
        """The same range, cut. A part may begin and end inside of a batch."""
        for at in range(0, self.length, largest):
            yield replace(self, start=self.start + at, length=min(largest, self.length - at))

    def __len__(self) -> int:
        return self.length


class RangedObjects:
    """The same objects, except that `piece` reads nothing and returns an ObjectRange. With
    `reads_windows` it reads those of windows."""

    remote = True

    def __init__(self, objects: Objects, *, reads_windows: bool = False) -> None:
        self._objects = objects
        self._reads_windows = reads_windows
        self.calls = objects.calls

    async def piece(self, key: str, start: int, length: int) -> Any:
        if self._reads_windows and key.startswith(WINDOWS):
            return await self._objects.piece(key, start, length)
        return ObjectRange(key, start, length)

    async def put_if_absent(self, key: str, parts: Sequence[Buffer]) -> bool:
        return await self._objects.put_if_absent(key, parts)

    async def put_stream(self, key: str, parts: AsyncIterator[Buffer]) -> None:
        await self._objects.put_stream(key, parts)

    async def get(self, key: str, start: int = 0, length: int | None = None) -> Buffer:
        return await self._objects.get(key, start, length)

    async def delete(self, keys: Sequence[str]) -> None:
        await self._objects.delete(keys)

    def list(self, prefix: str, below: str | None = None) -> AsyncIterator[str]:
        return self._objects.list(prefix, below)

    async def close(self) -> None:
        await self._objects.close()
