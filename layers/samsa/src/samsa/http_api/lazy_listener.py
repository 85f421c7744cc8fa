"""The listener of the HTTP API: it listens from the start, and costs nothing until a client comes.

FastAPI takes longer to import than a broker takes to start, and most brokers are never asked by
HTTP. So only a socket is opened at first. When the first client connects, the rest is imported in a
thread; further clients wait in the socket's queue meanwhile.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Collection
from errno import EADDRINUSE
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from samsa.broker.broker import Broker
from samsa.runtime.logs import event

from .sessions import EVERYONE, Login

log = logging.getLogger("samsa.http")
NEEDED = ("fastapi", "uvicorn")
BACKLOG = 128


class Listening(Protocol):
    def close(self) -> None:
        """Accept no more."""

    async def wait_closed(self) -> None: ...


class Extension(Protocol):
    """More routes, added by the caller that starts the listener."""

    def add_to(self, app: Any) -> None:
        """Called once, off the event loop, before the first request is answered."""

    async def close(self) -> None:
        """End what would go on for ever. May be called without `add_to`."""


Listen = Callable[[socket.socket, Callable[[], asyncio.Protocol]], Listening]
"""Accepts connections, and gives each to a protocol."""


def missing() -> str | None:
    """A package that the HTTP API needs and that is not installed."""
    return next((name for name in NEEDED if find_spec(name) is None), None)


class LazyListener:
    def __init__(
        self,
        host: str,
        port: int,
        names: Collection[str] = (),
        extension: Extension | None = None,
    ) -> None:
        """`names`: accepted in the Host header, beside addresses."""
        self._extension = extension
        self.host = host
        self.port = port
        self._names = names
        self._listening: socket.socket | None = None
        self._serving: asyncio.Task[None] | None = None
        self._server: Any = None
        self._kafka: tuple[Broker, tuple[str, int]] | None = None
        self._login = EVERYONE
        self._listen_tls: Listen | None = None

    def open(
        self,
        broker: Broker,
        address: tuple[str, int],
        login: Login = EVERYONE,
        listen_tls: Listen | None = None,
    ) -> None:
        """`address` is the one for Kafka clients. Raises OSError, which says what to do."""
        self._login, self._listen_tls = login, listen_tls
        try:
            family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
            sock = socket.create_server((self.host, self.port), family=family, backlog=BACKLOG)
        except OSError as error:
            why = "is taken" if error.errno == EADDRINUSE else f"cannot be used: {error.strerror}"
            raise OSError(error.errno, f"HTTP port {self.port} on {self.host} {why}") from error
        sock.setblocking(False)
        self.host, self.port = sock.getsockname()[:2]
        self._listening, self._kafka = sock, (broker, address)
        asyncio.get_running_loop().add_reader(sock.fileno(), self._first_client)

    @property
    def url(self) -> str | None:
        """None while it is closed."""
        if self._listening is None:
            return None
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self._listen_tls else ''}://{host}:{self.port}"

    def _first_client(self) -> None:
        assert self._listening is not None
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._listening.fileno())
        self._serving = loop.create_task(self._serve(self._listening))
        self._serving.add_done_callback(_log_failure)

    async def _serve(self, listening: socket.socket) -> None:
        self._server = await asyncio.to_thread(self._assemble, listening)
        await self._server.serve([listening])

    def _assemble(self, listening: socket.socket) -> Any:
        assert self._kafka is not None
        served = import_module("samsa.http_api.kafka_client").ServedBroker(*self._kafka)
        return import_module("samsa.http_api.server").server(
            served, self._login, listening, self._names, self._listen_tls, self._extension
        )

    async def close(self) -> None:
        """Requests that are being answered are finished, within two seconds."""
        if self._listening is None:
            return
        if self._extension is not None:
            await self._extension.close()
        if self._serving is None:
            asyncio.get_running_loop().remove_reader(self._listening.fileno())
        elif self._server is None:
            self._serving.cancel()
        else:
            self._server.should_exit = True
        if self._serving is not None:
            await asyncio.wait([self._serving])
        self._listening.close()


def _log_failure(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()):
        event(log, logging.ERROR, "the HTTP API has ended", why=repr(error))
