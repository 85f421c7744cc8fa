"""A web server inside of another program: it runs in that program's event loop, until stopped."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn

from .http_protocol import BoundedProtocol
from .lazy_listener import Listen

TICKS_BETWEEN_LOOKS = 10
"""Ticks of uvicorn, which has ten a second: slow clients are looked for once a second."""


class AsgiServer(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, listen: Listen | None = None) -> None:
        """`listen`: instead of the event loop, such as for TLS."""
        super().__init__(config)
        self.ready = asyncio.Event()
        self._listen = listen

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if self._listen is None:
            await super().startup(sockets)
        else:
            await super().startup([])
            self.servers = [self._listen(sock, self._protocol) for sock in sockets or []]  # type: ignore[misc]
        self.ready.set()

    def _protocol(self) -> BoundedProtocol:
        state = self.lifespan.state
        return BoundedProtocol(self.config, self.server_state, state)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Requests that have arrived are answered. Connections without a whole one are closed."""
        for connection in list(self.server_state.connections):
            if isinstance(connection, BoundedProtocol) and connection.waits_for_client:
                connection.abort()
        await super().shutdown(sockets)

    async def on_tick(self, counter: int) -> bool:
        if counter % TICKS_BETWEEN_LOOKS == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, BoundedProtocol) and connection.is_slow(now):
                    connection.let_go()
        return await super().on_tick(counter)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing: the program that runs this server handles signals."""
        yield
