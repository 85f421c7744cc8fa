"""Adds the console to an HTTP API: of `samsa up` with its first request, of `samsa console`."""

from importlib import import_module
from typing import Any

from samsa_broker.server.listener import Server

ROOM = "samsa_broker.console"


class ConsoleExtension:
    """A `samsa.http_api.lazy_listener.Extension`. It costs nothing until then."""

    def __init__(self, server: Server | None = None) -> None:
        self.server = server
        self._console: Any = None

    def add_to(self, app: Any) -> None:
        inside = None
        if self.server is not None:
            inside = import_module(f"{ROOM}.inside").Inside(self.server)
        self._console = import_module(f"{ROOM}.app").add_to(app, app.state.served, inside)

    async def close(self) -> None:
        if self._console is not None:
            await self._console.close()
