"""A web server inside of another program: it runs in the loop that is there, and ends when told."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn


class AsgiServer(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals belong to whoever runs us."""
        yield
