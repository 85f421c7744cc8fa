"""Answers, on their way to the client."""

import asyncio
import struct

from samsa.envelope import Frame, Gather, Range
from samsa.shim.errors import FateUnknown, HangUp
from samsa.shim.gather import Getter, in_order, plan
from samsa.shim.settings import Settings
from samsa.shim.transfers import TransferFailed

_SIZE = struct.Struct(">i")
SMALLEST = 4
"""A correlation id."""


class Outgoing:
    def __init__(self, writer: asyncio.StreamWriter, settings: Settings, getter: Getter) -> None:
        self._writer = writer
        self._limits = settings.limits
        self._stalls = settings.times.client_stalls
        self._getter = getter

    async def frame(self, frame: Frame, several: bool = False) -> None:
        if len(frame):
            await self._pass_on(b"" if several else _SIZE.pack(len(frame)), frame)

    async def gathered(self, gather: Gather) -> None:
        """Raises FateUnknown if nothing could be fetched: the question may be asked again."""
        planned = plan(gather, self._limits.piece_bytes)
        if not SMALLEST <= planned.size <= self._limits.frame_bytes:
            raise HangUp(f"an answer of {planned.size} bytes")
        # What is known already waits for the first piece that must be fetched: until then a
        # failure, such as a URL that has expired, can be mended by asking again.
        known = bytearray(b"" if gather.several else _SIZE.pack(planned.size))
        sources = iter(planned.pieces)
        begun = False
        try:
            async with in_order(planned, self._getter) as pieces:
                async for piece in pieces:
                    if not begun and not isinstance(next(sources).source, Range):
                        known += piece
                        continue
                    begun = True
                    await self._pass_on(known, piece)
                    known = bytearray()
        except TransferFailed as error:
            # A client that has half of an answer can only be told by hanging up.
            if begun:
                raise HangUp(f"an answer broke off: {error}") from error
            raise FateUnknown(f"an answer could not be fetched: {error}") from error
        await self._pass_on(known)

    async def _pass_on(self, *pieces: Frame) -> None:
        for piece in pieces:
            if len(piece):
                self._writer.write(piece)
        await self._drained()

    async def _drained(self) -> None:
        try:
            async with asyncio.timeout(self._stalls):
                await self._writer.drain()
        except TimeoutError:
            raise HangUp("it does not take its answer") from None
