"""The metrics port: GET answers with Prometheus text, whatever the path; one request a connection.

It runs in the broker's event loop and has few connections at a time. A client that does not send
its request, or does not read its answer, is disconnected. If there are too many clients, the oldest
is disconnected. A client that has to log in, or does so, needs DESCRIBE on the cluster: metrics
tell what DescribeLogDirs tells, and no name of a topic or a group.
"""

import asyncio
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from samsa.http_api.lazy_listener import Listen, Listening
from samsa.http_api.sessions import TooManyLogins, Unauthorized
from samsa.security.kinds import CLUSTER_NAME, Operation, ResourceType

from .http_logins import HttpLogin

MOST = 16
PATIENCE_S = 5.0
BACKLOG = 100
MAX_HEAD = 32 * 1024
"""A token may take half of it."""
END = b"\r\n\r\n"

Rendered = tuple[str, bytes]
Render = Callable[[str], Rendered]
"""Takes the client's Accept header; returns a content type and a body."""
Headers = list[tuple[bytes, bytes]]


class MetricsServer:
    def __init__(self, render: Render, login: HttpLogin | None = None) -> None:
        self._render = render
        self._login = login
        self._clients: dict[asyncio.Task[None], None] = {}
        self._server: Listening | None = None

    async def open(self, host: str, port: int, listen_tls: Listen | None = None) -> int:
        """Raises OSError."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
        listening.setblocking(False)
        number = int(listening.getsockname()[1])
        if listen_tls is not None:
            self._server = listen_tls(listening, self._protocol)
        else:
            loop = asyncio.get_running_loop()
            self._server = await loop.create_server(self._protocol, sock=listening)
        return number

    def _protocol(self) -> asyncio.StreamReaderProtocol:
        reader = asyncio.StreamReader(limit=MAX_HEAD)
        return asyncio.StreamReaderProtocol(reader, self._meet)

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients[task] = None
        if len(self._clients) > MOST:
            next(iter(self._clients)).cancel()
        try:
            with suppress(OSError, TimeoutError, EOFError, asyncio.LimitOverrunError):
                async with asyncio.timeout(PATIENCE_S):
                    client = writer.get_extra_info("peername")
                    writer.write(await self._answer(await reader.readuntil(END), client))
                    await writer.drain()
                    writer.close()
                    await writer.wait_closed()
        except asyncio.CancelledError:
            pass  # there were too many clients, or the broker stops
        finally:
            del self._clients[task]
            writer.transport.abort()

    async def _answer(self, head: bytes, client: tuple[str, int] | None) -> bytes:
        first, *lines = head.split(b"\r\n")
        method = first.partition(b" ")[0]
        if method not in (b"GET", b"HEAD"):
            return _refusal(HTTPStatus.METHOD_NOT_ALLOWED)
        headers = [_header(line) for line in lines if b":" in line]
        refusal = await self._refused({"headers": headers, "client": client})
        if refusal is not None:
            return refusal
        kind, body = self._render(dict(headers).get(b"accept", b"").decode("latin-1"))
        told = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        return told.encode() + CLOSE + (body if method == b"GET" else b"")

    async def _refused(self, scope: dict[str, Any]) -> bytes | None:
        if self._login is None or not self._login.is_needed(scope):
            return None
        try:
            session = await self._login.session(scope)
        except Unauthorized as error:
            return _refusal(HTTPStatus.UNAUTHORIZED, error.challenges)
        except TooManyLogins:
            return _refusal(HTTPStatus.SERVICE_UNAVAILABLE)
        if session.access.may(Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME):
            return None
        return _refusal(HTTPStatus.FORBIDDEN)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._clients):
            task.cancel()


CLOSE = b"Connection: close" + END


def _refusal(status: HTTPStatus, challenges: Sequence[str] = ()) -> bytes:
    lines = [f"HTTP/1.1 {status.value} {status.phrase}", "Content-Length: 0"]
    lines += [f"WWW-Authenticate: {challenge}" for challenge in challenges]
    return "\r\n".join(lines).encode() + b"\r\n" + CLOSE


def _header(line: bytes) -> tuple[bytes, bytes]:
    name, _, value = line.partition(b":")
    return name.strip().lower(), value.strip()
