"""The object store, and the bytes that go through it."""

import os
from collections.abc import AsyncIterator, Sequence
from typing import Protocol, TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview


class FileRange:
    """Part of an open file, for sendfile. It has a length, like any other piece of a response."""

    __slots__ = ("fd", "length", "start")

    def __init__(self, fd: int, start: int, length: int) -> None:
        self.fd = fd
        self.start = start
        self.length = length

    def __len__(self) -> int:
        return self.length

    def read(self) -> bytes:
        return os.pread(self.fd, self.length, self.start)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    __del__ = close


Piece: TypeAlias = Buffer | FileRange


class Objects(Protocol):
    """S3, a folder, or memory. Keys look like paths."""

    calls: dict[str, int]
    remote: bool
    """Whether pieces are read over a network, and so take memory while they are sent."""

    async def put_if_absent(self, key: str, parts: Sequence[Buffer]) -> bool:
        """Store the parts, joined, unless the key exists. False: it existed; nothing written."""
        ...

    async def put_stream(self, key: str, parts: AsyncIterator[Buffer]) -> None:
        """Store the parts, joined, under a key that only the caller knows: all or nothing.

        The caller does not change a part after it was yielded. Only a few are held at a time.
        """
        ...

    async def get(self, key: str, start: int = 0, length: int | None = None) -> Buffer:
        """Raises Missing."""
        ...

    async def piece(self, key: str, start: int, length: int) -> Piece:
        """A range ready to be sent: bytes, or an open file if there is one. Raises Missing."""
        ...

    async def delete(self, keys: Sequence[str]) -> None:
        """Deleting a missing key is no error."""
        ...

    def list(self, prefix: str, below: str | None = None) -> AsyncIterator[str]:
        """Keys under `prefix` in order, up to but without `below`. Never on a hot path."""
        ...

    async def close(self) -> None: ...
