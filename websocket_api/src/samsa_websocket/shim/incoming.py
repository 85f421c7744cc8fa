"""Reads a client's requests from its TCP stream.

Some requests are read ahead while others are being answered. This is also how the shim notices that
a client has gone while its request is held. Memory for a request is taken before it is read.

A client that is muted is not read. A socket that is not read does not tell that its client has
gone, so it is asked once a second.
"""

import asyncio
import select
import struct
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from samsa.broker.budget import Budget
from samsa_websocket.shim.errors import HangUp
from samsa_websocket.shim.settings import ShimSettings

_SIZE = struct.Struct(">i")
SMALLEST = 8
"""Key, version and correlation id: no request is shorter."""
LOOK_EVERY_S = 1.0
GONE = select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)


class Incoming:
    def __init__(
        self,
        reader: asyncio.StreamReader,
        settings: ShimSettings,
        memory: Budget,
        gone: Callable[[], None],
        has_hung_up: Callable[[], bool],
    ) -> None:
        """`gone` is called when the client has closed its side. `has_hung_up` asks its socket."""
        self.ended = False
        """Whether the client has closed its side."""
        self.waiting: deque[bytes] = deque()
        """Requests that have arrived and are not being answered yet."""
        self._reader = reader
        self._limits = settings.limits
        self._times = settings.times
        self._memory = memory
        self._gone = gone
        self._has_hung_up = has_hung_up
        self._is_muted = False
        self._moved = asyncio.Event()
        """Set when a request has come or was taken, or the client has gone."""
        self._held = 0

    async def read(self) -> None:
        """Runs beside the answering, until the client closes. Raises HangUp."""
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                self.waiting.append(await self._one())
                self._moved.set()
                while self._is_far_ahead:
                    await self._move_or_look()
        self.ended = True
        self._gone()
        self._moved.set()

    @property
    def _is_far_ahead(self) -> bool:
        size = sum(map(len, self.waiting))
        return len(self.waiting) >= self._limits.requests_ahead or size > self._limits.bytes_ahead

    @contextmanager
    def muted(self) -> Iterator[None]:
        """Nothing that has not begun to come is read within the block."""
        self._is_muted = True
        self._moved.set()
        try:
            yield
        finally:
            self._is_muted = False
            self._moved.set()

    async def _move_or_look(self) -> None:
        """Raises ConnectionResetError if a client that is muted has gone."""
        if not self._is_muted:
            await self._move()
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_EVERY_S):
                await self._move()
                return
        if self._has_hung_up():
            raise ConnectionResetError

    async def _move(self) -> None:
        self._moved.clear()
        await self._moved.wait()

    async def _one(self) -> bytes:
        (size,) = _SIZE.unpack(await self._reader.readexactly(_SIZE.size))
        if not SMALLEST <= size <= self._limits.frame_bytes:
            raise HangUp(f"a frame of {size} bytes; the limit is {self._limits.frame_bytes}")
        while self._is_muted:
            await self._move_or_look()
        await self._memory.acquire(size)
        self._held += size
        try:
            async with asyncio.timeout(self._times.client_stalls):
                return await self._reader.readexactly(size)
        except TimeoutError:
            raise HangUp("it stalls in the middle of a request") from None

    async def some(self) -> bool:
        """Whether there is a request; False after the last. Raises HangUp if none comes for long.

        Reading and answering cannot block each other: reading pauses only while requests wait here.
        """
        try:
            async with asyncio.timeout(self._times.client_idle):
                while not self.waiting and not self.ended:
                    await self._move()
        except TimeoutError:
            raise HangUp("idle") from None
        return bool(self.waiting)

    async def linger(self, seconds: float, wanted: Callable[[Sequence[bytes]], bool]) -> None:
        """Wait for more requests, as long as `wanted` says that more may join those here."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self.ended and wanted(self.waiting):
                    await self._move()

    def take(self, count: int) -> list[bytes]:
        taken = [self.waiting.popleft() for _ in range(count)]
        self._moved.set()
        return taken

    def done_with(self, frames: Sequence[bytes]) -> None:
        size = sum(map(len, frames))
        self._memory.release(size)
        self._held -= size

    def close(self) -> None:
        self._memory.release(self._held)
        self._held = 0


def has_hung_up(writer: asyncio.StreamWriter) -> bool:
    """Whether the client has closed its side, also if there is more to be read before that."""
    if writer.is_closing():
        return True
    poll = select.poll()
    poll.register(writer.get_extra_info("socket").fileno(), GONE)
    return bool(poll.poll(0))
