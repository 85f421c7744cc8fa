"""Sends answers to the client."""

import asyncio
import struct

from samsa_websocket.envelope import Frame, Gather, UrlRange
from samsa_websocket.shim.errors import FateUnknown, HangUp
from samsa_websocket.shim.gather import Getter, in_order, plan
from samsa_websocket.shim.settings import ShimSettings
from samsa_websocket.shim.transfers import TransferFailed

_SIZE = struct.Struct(">i")
SMALLEST = 4
"""A correlation id."""


class Outgoing:
    def __init__(
        self, writer: asyncio.StreamWriter, settings: ShimSettings, getter: Getter
    ) -> None:
        self._writer = writer
        self._limits = settings.limits
        self._stalls = settings.times.client_stalls
        self._getter = getter

    async def frame(self, frame: Frame, several: bool = False) -> None:
        if len(frame):
            await self._pass_on(b"" if several else _SIZE.pack(len(frame)), frame)

    async def gathered(self, gather: Gather) -> None:
        """Raises FateUnknown if nothing could be fetched: the question may be asked again."""
        planned = plan(gather)
        if not SMALLEST <= planned.size <= self._limits.frame_bytes:
            raise HangUp(f"an answer of {planned.size} bytes")
        # Bytes before the first piece that must be fetched wait for it: if that fails, for example
        # because a URL has expired, the shim can still ask again.
        known = bytearray(b"" if gather.several else _SIZE.pack(planned.size))
        sources = iter(planned.pieces)
        begun = False
        try:
            async with in_order(planned, self._getter) as pieces:
                async for piece in pieces:
                    if not begun and not isinstance(next(sources).source, UrlRange):
                        known += piece
                        continue
                    begun = True
                    await self._pass_on(known, piece)
                    known = bytearray()
        except TransferFailed as error:
            # If a client has half of an answer, only closing its connection reports the error.
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
