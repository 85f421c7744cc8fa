"""The metrics port: GET answers with Prometheus text, whatever the path; one request a connection.

It runs in the broker's event loop and has few connections at a time. A client that does not send
its request, or does not read its answer, is disconnected. If there are too many clients, the oldest
is disconnected.
"""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress

MOST = 16
PATIENCE_S = 5.0
MAX_HEAD = 16 * 1024
END = b"\r\n\r\n"

Rendered = tuple[str, bytes]
Render = Callable[[str], Rendered]
"""Takes the client's Accept header; returns a content type and a body."""


class MetricsServer:
    def __init__(self, render: Render) -> None:
        self._render = render
        self._clients: dict[asyncio.Task[None], None] = {}
        self._server: asyncio.Server | None = None

    async def open(self, host: str, port: int) -> int:
        """Raises OSError."""
        family = socket.AF_INET6 if ":" in host else socket.AF_UNSPEC
        self._server = await asyncio.start_server(
            self._meet, host, port, family=family, limit=MAX_HEAD
        )
        return int(self._server.sockets[0].getsockname()[1])

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients[task] = None
        if len(self._clients) > MOST:
            next(iter(self._clients)).cancel()
        try:
            with suppress(OSError, TimeoutError, EOFError, asyncio.LimitOverrunError):
                async with asyncio.timeout(PATIENCE_S):
                    writer.write(self._answer(await reader.readuntil(END)))
                    await writer.drain()
                    writer.close()
                    await writer.wait_closed()
        except asyncio.CancelledError:
            pass  # there were too many clients, or the broker stops
        finally:
            del self._clients[task]
            writer.transport.abort()

    def _answer(self, head: bytes) -> bytes:
        first, *lines = head.decode("latin-1").split("\r\n")
        method = first.partition(" ")[0]
        if method not in ("GET", "HEAD"):
            return b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n" + CLOSE
        headers = dict(_header(line) for line in lines if ":" in line)
        kind, body = self._render(headers.get("accept", ""))
        told = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        return told.encode() + CLOSE + (body if method == "GET" else b"")

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._clients):
            task.cancel()


CLOSE = b"Connection: close" + END


def _header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip().lower(), value.strip()
