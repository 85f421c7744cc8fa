"""Pieces of a response that stay in S3: the response names them, and the shim gets them itself."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from samsa.ports import Buffer, Objects


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

    def __len__(self) -> int:
        return self.length


class RangedObjects:
    """The same objects, except that `piece` reads nothing and returns an ObjectRange."""

    remote = True

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self.calls = objects.calls

    async def piece(self, key: str, start: int, length: int) -> Any:
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
