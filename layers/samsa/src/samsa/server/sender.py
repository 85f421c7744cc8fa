"""Sending a response: bytes with sendmsg, files with sendfile, nothing joined or copied."""

import asyncio
import os
import socket
from collections.abc import Sequence

from samsa.ports import FileRange, Piece

SEGMENTS_AT_ONCE = 64
MORE_FOLLOWS = getattr(socket, "MSG_MORE", 0)


class Sender:
    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._fd = sock.fileno()
        self.sent = 0

    async def send(self, segments: Sequence[Piece]) -> None:
        """Raises OSError when the peer is gone."""
        run: list[memoryview] = []
        for segment in segments:
            if isinstance(segment, FileRange):
                if run:
                    await self._send_bytes(run, MORE_FOLLOWS)
                    run = []
                await self._send_file(segment)
            elif len(segment):
                run.append(memoryview(segment))
        if run:
            await self._send_bytes(run, 0)

    async def _send_bytes(self, run: list[memoryview], flags: int) -> None:
        while run:
            try:
                count = self._socket.sendmsg(run[:SEGMENTS_AT_ONCE], [], flags)
            except (BlockingIOError, InterruptedError):
                await self._writable()
                continue
            self.sent += count
            while run and count >= len(run[0]):
                count -= len(run.pop(0))
            if count:
                run[0] = run[0][count:]

    async def _send_file(self, part: FileRange) -> None:
        position, left = part.start, part.length
        while left:
            try:
                count = os.sendfile(self._fd, part.fd, position, left)
            except (BlockingIOError, InterruptedError):
                await self._writable()
                continue
            if count == 0:
                raise OSError("an object is shorter than its extent says")
            self.sent += count
            position += count
            left -= count

    async def _writable(self) -> None:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        loop.add_writer(self._fd, _set, ready)
        try:
            await ready
        finally:
            loop.remove_writer(self._fd)


def _set(ready: "asyncio.Future[None]") -> None:
    if not ready.done():
        ready.set_result(None)
