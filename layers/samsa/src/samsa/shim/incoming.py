"""A client's requests, cut out of its TCP stream.

One is read ahead while another is being answered, which is also how we notice that a client has
gone while its request is held. Memory for a request is taken before it is read.
"""

import asyncio
import struct
from collections.abc import Callable
from contextlib import suppress

from samsa.handlers.budget import Budget
from samsa.shim.errors import HangUp
from samsa.shim.settings import Settings

_SIZE = struct.Struct(">i")
SMALLEST = 8
"""Key, version and correlation id: nothing shorter is a request."""


class Incoming:
    def __init__(
        self,
        reader: asyncio.StreamReader,
        settings: Settings,
        memory: Budget,
        gone: Callable[[], None],
    ) -> None:
        self.ended = False
        """The client sends nothing any more."""
        self.waiting: bytes | None = None
        """The request that comes after the one that is being answered, if it is here already."""
        self._reader = reader
        self._limits = settings.limits
        self._times = settings.times
        self._memory = memory
        self._gone = gone
        self._frames: asyncio.Queue[bytes | None] = asyncio.Queue(1)
        self._held = 0

    async def read(self) -> None:
        """Runs beside the answering, until the client is done. Raises HangUp."""
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                frame = await self._one()
                await self._frames.put(frame)
                self.waiting = frame
                del frame
        self.ended = True
        self._gone()
        await self._frames.put(None)

    async def _one(self) -> bytes:
        (size,) = _SIZE.unpack(await self._reader.readexactly(_SIZE.size))
        if not SMALLEST <= size <= self._limits.frame_bytes:
            raise HangUp(f"a frame of {size} bytes; the limit is {self._limits.frame_bytes}")
        await self._memory.acquire(size)
        self._held += size
        try:
            async with asyncio.timeout(self._times.client_stalls):
                return await self._reader.readexactly(size)
        except TimeoutError:
            raise HangUp("it stalls in the middle of a request") from None

    async def next(self) -> bytes | None:
        """None after the last. Raises HangUp if none comes for long."""
        try:
            async with asyncio.timeout(self._times.client_idle):
                frame = await self._frames.get()
        except TimeoutError:
            raise HangUp("idle") from None
        self.waiting = None
        return frame

    def done_with(self, frame: bytes) -> None:
        self._memory.release(len(frame))
        self._held -= len(frame)

    def close(self) -> None:
        self._memory.release(self._held)
        self._held = 0
