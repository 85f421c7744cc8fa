"""The memory that one connection has for its requests: its buffer grows as memory is granted."""

from typing import TYPE_CHECKING

from .buffer import SMALL, ReceiveBuffer
from .memory import MemoryClaim

if TYPE_CHECKING:
    from .listener import Server


class RequestRoom:
    def __init__(self, buffer: ReceiveBuffer, server: "Server") -> None:
        self._buffer = buffer
        self._server = server
        self._claim = MemoryClaim()
        self._first_until = 0
        """The priority for memory ends when the buffer's `frames` reaches this number."""

    @property
    def size(self) -> int:
        """Bytes that are charged to this connection."""
        return self._claim.size

    async def make(self) -> None:
        """Make room to read on: at the buffer's front, or by growing it, which may wait for memory.
        No lease may be out."""
        if self._claim.first and self._buffer.frames >= self._first_until:
            self._step_back()
        wanted = self._buffer.wanted()
        if wanted > self._buffer.capacity:
            await self._grow(wanted)
        else:
            self._buffer.make_room()

    async def _grow(self, capacity: int) -> None:
        self._server.make_way(self._claim, capacity)
        had_priority = self._claim.first
        await self._server.memory.grow(self._claim, capacity)
        if self._claim.first and not had_priority:
            self._first_until = self._buffer.frames + 1
        self._buffer.resize(capacity)

    def _step_back(self) -> None:
        """The request that had priority is handled: give memory back if other connections wait."""
        if self._server.memory.contended:
            self.shrink()

    def shrink(self) -> None:
        """Shrink the buffer to what is unread. No lease may be out."""
        self._buffer.resize(SMALL)
        charged = self._buffer.capacity if self._buffer.capacity > SMALL else 0
        self._server.memory.shrink(self._claim, charged)

    def drop(self) -> None:
        self._buffer.drop()
        self._server.memory.shrink(self._claim)
