"""The object store of a simulation: write-once keys in memory; and packs, which are files."""

from collections import defaultdict
from collections.abc import Generator, Sequence

from samsa.ports import Missing

from .packs import PackFolder
from .truth import Truth


class SimObjects:
    def __init__(self, truth: Truth, packs: PackFolder) -> None:
        self.calls: dict[str, int] = defaultdict(int)
        self.held: dict[str, bytes] = {}
        self._truth = truth
        self._packs = packs

    def put_if_absent(self, key: str, data: bytes) -> bool:
        if key in self.held:
            return False
        self.held[key] = data
        return True

    def put_stream(self, key: str, data: bytes) -> None:
        self.held[key] = data

    def read(self, key: str) -> bytes | None:
        return self._packs.read(key) if key.startswith("pack/") else self.held.get(key)

    def get(self, key: str, start: int = 0, length: int | None = None) -> memoryview:
        data = self.read(key)
        if data is None:
            raise Missing(key)
        return memoryview(data)[start : None if length is None else start + length]

    piece = get

    def delete(self, keys: Sequence[str]) -> Generator[None, None, None]:
        """One key after the other: nothing deletes several at once."""
        for number, key in enumerate(keys):
            if number:
                yield
            if self.held.pop(key, None) is not None:
                self._truth.deleted(key)

    def keys(self, prefix: str, below: str | None = None) -> list[str]:
        return sorted(
            key for key in self.held if key.startswith(prefix) and (below is None or key < below)
        )
