"""Objects in memory: of an ephemeral broker, for simulation, and for tests."""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence

from samsa.local.memory_room import MemoryRoom
from samsa.ports import Buffer, Missing, Piece

COPIED = 32 * 1024
"""A piece up to this size is copied."""


class MemoryObjects:
    remote = False

    def __init__(self, room: MemoryRoom | None = None) -> None:
        """`room`: where the objects count; None: nowhere, and there is no limit."""
        self.calls: dict[str, int] = defaultdict(int)
        self._room = room
        self._folders: dict[str, dict[str, bytes]] = {}
        """By the key up to its last slash, so that a listing looks at few keys."""

    async def put_if_absent(self, key: str, parts: Sequence[Buffer]) -> bool:
        """Raises StorageError: there is no room."""
        self.calls["put"] += 1
        folder = self._folders.get(_folder_of(key), {})
        if key in folder:
            return False
        self._keep(key, parts, for_upkeep=False)
        return True

    async def put_stream(self, key: str, parts: AsyncIterator[Buffer]) -> None:
        """Raises StorageError: there is no room."""
        self.calls["put"] += 1
        whole = [bytes(part) async for part in parts]
        self._drop(key)
        self._keep(key, whole, for_upkeep=True)

    def _keep(self, key: str, parts: Sequence[Buffer], for_upkeep: bool) -> None:
        if self._room is not None:
            self._room.take(sum(map(len, parts)), for_upkeep)
        self._folders.setdefault(_folder_of(key), {})[key] = b"".join(parts)

    async def get(self, key: str, start: int = 0, length: int | None = None) -> Buffer:
        self.calls["get"] += 1
        return self._range(key, start, length)

    async def piece(self, key: str, start: int, length: int) -> Piece:
        """A large one is not copied, which would take some milliseconds of the event loop."""
        self.calls["get"] += 1
        if length <= COPIED:
            return self._range(key, start, length)
        return memoryview(self._stored(key))[start : start + length]

    def _range(self, key: str, start: int, length: int | None) -> bytes:
        stored = self._stored(key)
        return stored[start:] if length is None else stored[start : start + length]

    def _stored(self, key: str) -> bytes:
        try:
            return self._folders[_folder_of(key)][key]
        except KeyError:
            raise Missing(key) from None

    async def delete(self, keys: Sequence[str]) -> None:
        self.calls["delete"] += 1
        for key in keys:
            self._drop(key)

    def _drop(self, key: str) -> None:
        folder = self._folders.get(_folder_of(key), {})
        stored = folder.pop(key, None)
        if stored is None:
            return
        if not folder:
            del self._folders[_folder_of(key)]
        if self._room is not None:
            self._room.give_back(len(stored))

    async def list(self, prefix: str, below: str | None = None) -> AsyncIterator[str]:
        self.calls["list"] += 1
        found = [
            key
            for name, folder in self._folders.items()
            if name.startswith(prefix) or prefix.startswith(name)
            for key in folder
            if key.startswith(prefix)
        ]
        for key in sorted(found):
            if below is None or key < below:
                yield key

    async def close(self) -> None:
        pass


def _folder_of(key: str) -> str:
    return key.rpartition("/")[0]
