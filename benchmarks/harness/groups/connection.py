"""A connection to a broker: requests may overlap, and each is timed at the socket.

What the client itself needs to wake a task and to read the answer is not the broker's time.
"""

import asyncio
import itertools
import time
from collections import deque
from typing import Any, NamedTuple, cast

from harness.process import ToolFailed
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import read_response, request_frame

CLIENT_ID = "bench"
SIZE_BYTES = 4


class Timed(NamedTuple):
    row: Any
    seconds: float


class _Asked(NamedTuple):
    key: ApiKey
    version: int
    at: float
    answer: "asyncio.Future[Timed]"


class Connection(asyncio.Protocol):
    def __init__(self) -> None:
        self._received = bytearray()
        self._asked: deque[_Asked] = deque()
        self._numbers = itertools.count(1)
        self._transport: asyncio.WriteTransport | None = None

    @classmethod
    async def open(cls, host: str, port: int) -> "Connection":
        try:
            _, connection = await asyncio.get_running_loop().create_connection(cls, host, port)
        except OSError as error:
            raise ToolFailed(f"no connection: {error}") from error
        return connection

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    async def ask(self, key: ApiKey, version: int, row: Any) -> Any:
        return (await self.send(key, version, row)).row

    def send(self, key: ApiKey, version: int, row: Any) -> "asyncio.Future[Timed]":
        """It has gone out when this returns; the answer may be awaited."""
        answer: asyncio.Future[Timed] = asyncio.get_running_loop().create_future()
        if self._transport is None:
            answer.set_exception(ToolFailed("the broker has closed the connection"))
            return answer
        frame = request_frame(APIS[key], version, next(self._numbers), CLIENT_ID, row)
        self._asked.append(_Asked(key, version, time.perf_counter(), answer))
        self._transport.write(frame)
        return answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)

    def connection_lost(self, _: Exception | None) -> None:
        self._transport = None
        for asked in self._asked:
            if not asked.answer.done():
                asked.answer.set_exception(ToolFailed(f"no answer to {asked.key.name}: closed"))

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        self._received += data
        while (frame := self._next_frame()) is not None:
            asked = self._asked.popleft()
            if not asked.answer.done():
                _, row = read_response(APIS[asked.key], asked.version, memoryview(frame))
                asked.answer.set_result(Timed(row, now - asked.at))

    def _next_frame(self) -> bytes | None:
        end = SIZE_BYTES + int.from_bytes(self._received[:SIZE_BYTES], "big")
        if len(self._received) < max(end, SIZE_BYTES):
            return None
        frame = bytes(self._received[SIZE_BYTES:end])
        del self._received[:end]
        return frame
