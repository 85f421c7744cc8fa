"""Objects in memory, for simulation and tests."""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence

from samsa.ports import Buffer, Missing, Piece


class MemoryObjects:
    remote = False

    def __init__(self) -> None:
        self.calls: dict[str, int] = defaultdict(int)
        self._objects: dict[str, bytes] = {}

    async def put_if_absent(self, key: str, parts: Sequence[Buffer]) -> bool:
        self.calls["put"] += 1
        if key in self._objects:
            return False
        self._objects[key] = b"".join(parts)
        return True

    async def put_stream(self, key: str, parts: AsyncIterator[Buffer]) -> None:
        self.calls["put"] += 1
        self._objects[key] = b"".join([bytes(part) async for part in parts])

    async def get(self, key: str, start: int = 0, length: int | None = None) -> Buffer:
        self.calls["get"] += 1
        return self._range(key, start, length)

    async def piece(self, key: str, start: int, length: int) -> Piece:
        self.calls["get"] += 1
        return self._range(key, start, length)

    def _range(self, key: str, start: int, length: int | None) -> bytes:
        try:
            stored = self._objects[key]
        except KeyError:
            raise Missing(key) from None
        return stored[start:] if length is None else stored[start : start + length]

    async def delete(self, keys: Sequence[str]) -> None:
        self.calls["delete"] += 1
        for key in keys:
            self._objects.pop(key, None)

    async def list(self, prefix: str, below: str | None = None) -> AsyncIterator[str]:
        self.calls["list"] += 1
        for key in sorted(self._objects):
            if key.startswith(prefix) and (below is None or key < below):
                yield key

    async def close(self) -> None:
        pass
