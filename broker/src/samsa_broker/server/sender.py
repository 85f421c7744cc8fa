"""Sends answers: bytes with sendmsg, files with sendfile; nothing is joined or copied.

What the socket does not accept at once is queued here, and sent when the socket is writable again.
Callers wait for `drained` before they make more answers: this is the back-pressure against a client
that does not read.
"""

import asyncio
import os
import socket
import ssl
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from samsa.ports import FileRange, Piece

SEGMENTS_AT_ONCE = 64
LARGE = 4 * 1024 * 1024
STEP = 300_000
WOULD_BLOCK = (BlockingIOError, InterruptedError, ssl.SSLWantWriteError)
MORE_FOLLOWS = getattr(socket, "MSG_MORE", 0)


class Sender:
    def __init__(self, sock: socket.socket, broken: Callable[[], None]) -> None:
        self._socket = sock
        self._fd = sock.fileno()
        self._loop = asyncio.get_running_loop()
        self._queue: deque[memoryview | FileRange] = deque()
        self._broken = broken
        self._waits_for_socket = False
        self._drained: asyncio.Future[None] | None = None
        self._in_steps = False
        self.sent = 0

    def write(self, segments: Sequence[Piece], size: int) -> None:
        if size > LARGE and not self._in_steps:
            self._go_in_steps()
        if len(segments) == 1 and not self._queue and isinstance(segments[0], bytes):
            segments = self._send_now(segments[0])
        for segment in segments:
            if isinstance(segment, FileRange):
                self._queue.append(segment)
            elif len(segment):
                self._queue.append(memoryview(segment))
        if self._queue and not self._waits_for_socket:
            self._pump()

    def _send_now(self, segment: bytes) -> list[Piece]:
        """Send the usual short answer at once. Returns what was not sent."""
        try:
            count = self._socket.send(segment)
        except OSError:
            count = 0  # any error comes again when the rest is sent
        self.sent += count
        return [] if count == len(segment) else [memoryview(segment)[count:]]

    def _go_in_steps(self) -> None:
        """Shorten the send buffer to a client on this machine. By default its socket accepts tens
        of megabytes at once, and the client does not run while they are handed over. With the short
        buffer librdkafka reads a fifth faster; answers of a megabyte, as Java fetches them, need
        the long one."""
        self._in_steps = True
        with suppress(OSError):  # the client has gone; the next call reports it
            if self._socket.getpeername()[0] == self._socket.getsockname()[0]:
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, STEP)

    @property
    def empty(self) -> bool:
        return not self._queue

    async def drained(self) -> None:
        if self._queue:
            self._drained = self._loop.create_future()
            await self._drained

    def _pump(self) -> None:
        try:
            while self._queue:
                if isinstance(self._queue[0], FileRange):
                    self._send_file(self._queue[0])
                else:
                    self._send_bytes()
        except WOULD_BLOCK:
            if not self._waits_for_socket:
                self._waits_for_socket = True
                self._loop.add_writer(self._fd, self._pump)
            return
        except OSError:
            self.close()
            self._broken()
            return
        self._stop_waiting()

    def _stop_waiting(self) -> None:
        if self._waits_for_socket:
            self._waits_for_socket = False
            self._loop.remove_writer(self._fd)
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)

    def _send_bytes(self) -> None:
        run: list[memoryview] = []
        for segment in self._queue:
            if isinstance(segment, FileRange) or len(run) == SEGMENTS_AT_ONCE:
                break
            run.append(segment)
        flags = MORE_FOLLOWS if len(run) < len(self._queue) else 0
        count = self._socket.sendmsg(run, [], flags)
        self.sent += count
        for segment in run:
            if count < len(segment):
                self._queue[0] = segment[count:]
                return
            count -= len(segment)
            self._queue.popleft()

    def _send_file(self, part: FileRange) -> None:
        while part.length:
            count = os.sendfile(self._fd, part.fd, part.start, part.length)
            if count == 0:
                raise OSError("an object is shorter than its extent says")
            self.sent += count
            part.start += count
            part.length -= count
        self._queue.popleft()
        part.close()

    def close(self) -> None:
        self._queue.clear()
        self._stop_waiting()
