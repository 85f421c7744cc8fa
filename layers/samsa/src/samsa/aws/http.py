"""HTTP/1.1 to one host: a bounded pool of connections that are kept alive.

If an answer does not come in time, its connection is closed, so that the late answer is never taken
for that of another request. An idle connection with unread data is being closed by the server, and
is not used again: a function that was frozen finds most of its connections in this state.
"""

import asyncio
import os
import select
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from samsa.aws.http_answer import BadAnswer, HttpAnswer

IDLE_S = 20.0


@dataclass(frozen=True, slots=True)
class Patience:
    """The timeouts of one try, and the number of tries."""

    connect_s: float = 1.0
    read_s: float = 3.0
    tries: int = 3


class NotSent(OSError):
    """There was no connection, so nothing was sent."""


class HttpConnection(asyncio.Protocol):
    def __init__(self) -> None:
        self.since = 0.0
        """When it became idle."""
        self._transport: Any = None
        self._answer = HttpAnswer()
        self._waiting: asyncio.Future[HttpAnswer] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        raw = transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    async def ask(self, request: bytes) -> HttpAnswer:
        """Raises OSError or BadAnswer; after that the connection must not be used."""
        self._answer = HttpAnswer()
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._waiting

    def data_received(self, data: bytes) -> None:
        try:
            if self._answer.feed(data):
                self._settle(None)
        except BadAnswer as error:
            self._settle(error)
            self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        try:
            if exc is None:
                self._answer.end()
            self._settle(exc)
        except BadAnswer as error:
            self._settle(error)

    def _settle(self, error: Exception | None) -> None:
        if self._waiting is None or self._waiting.done():
            return
        if error is None:
            self._waiting.set_result(self._answer)
        else:
            self._waiting.set_exception(error)
            self._waiting.exception()  # marked as seen: its caller may have timed out

    @property
    def quiet(self) -> bool:
        """Whether it is open, without unread data."""
        if self._transport.is_closing():
            return False
        waiting = select.poll()
        waiting.register(self._transport.get_extra_info("socket").fileno(), select.POLLIN)
        return not waiting.poll(0)

    def abort(self) -> None:
        self._transport.abort()


class Pool:
    """The connections of one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, connections: int) -> None:
        self.loop = loop
        self.room = asyncio.Semaphore(connections)
        self.idle: list[HttpConnection] = []


class Http:
    def __init__(self, url: str, connections: int, patience: Patience) -> None:
        parts = urlsplit(url)
        self._tls = parts.scheme == "https"
        self._name = parts.hostname or ""
        self._port = parts.port or (443 if self._tls else 80)
        self.host = parts.netloc
        """The value of the Host header."""
        self._connections = connections
        self._patience = patience
        self._pool: Pool | None = None

    async def ask(self, request: bytes) -> HttpAnswer:
        """One try. Raises OSError (a time-out is one) or BadAnswer; NotSent if nothing was sent."""
        pool = self._pool_here()
        async with pool.room:
            connection = self._idle(pool) or await self._connect(pool)
            try:
                async with asyncio.timeout(self._patience.read_s):
                    answer = await connection.ask(request)
            except BaseException:
                connection.abort()
                raise
            if answer.leaves_it_open:
                connection.since = pool.loop.time()
                pool.idle.append(connection)
            else:
                connection.abort()
            return answer

    def _pool_here(self) -> Pool:
        loop = asyncio.get_running_loop()
        if self._pool is None or self._pool.loop is not loop:
            self._pool = Pool(loop, self._connections)
        return self._pool

    def _idle(self, pool: Pool) -> HttpConnection | None:
        while pool.idle:
            connection = pool.idle.pop()
            if pool.loop.time() - connection.since < IDLE_S and connection.quiet:
                return connection
            connection.abort()
        return None

    async def _connect(self, pool: Pool) -> HttpConnection:
        try:
            async with asyncio.timeout(self._patience.connect_s):
                _, connection = await pool.loop.create_connection(
                    HttpConnection, self._name, self._port, ssl=tls() if self._tls else None
                )
        except OSError as error:
            raise NotSent(str(error) or type(error).__name__) from error
        return connection

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None and pool.loop is asyncio.get_running_loop():
            for connection in pool.idle:
                connection.abort()
            await asyncio.sleep(0)  # lets the transports close their sockets


@cache
def tls() -> ssl.SSLContext:
    """Made once, at first use: reading the root certificates takes a while."""
    return ssl.create_default_context(cafile=os.environ.get("AWS_CA_BUNDLE") or None)


def post(path: str, headers: Mapping[str, str], body: bytes) -> bytes:
    head = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    return f"POST {path} HTTP/1.1\r\n{head}content-length: {len(body)}\r\n\r\n".encode() + body
