"""How HTTP clients come into this process: with TLS or without, and by which login.

A secured broker asks who its clients are wherever other machines can reach it, and wherever there
is TLS. On `http://` at loopback a client need not say it; then it is `User:http-api`.
"""

import asyncio
import socket
from collections.abc import Callable
from typing import NamedTuple

from samsa.http_api.lazy_listener import Listening
from samsa.runtime.tls_context import ClientAuth, TlsContext, TlsFiles

from .handshakes import Handshakes
from .http_logins import HttpLogin, HttpLogins
from .listeners import is_loopback
from .security import Security
from .tls_server import TlsServer


class HttpAddress(NamedTuple):
    host: str
    port: int
    has_tls: bool = False

    @property
    def scheme(self) -> str:
        return "https" if self.has_tls else "http"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def needs_login(self) -> bool:
        """Of a secured broker."""
        return self.has_tls or not is_loopback(self.host)


class HttpEntry:
    """What the HTTP servers of one process share."""

    def __init__(self, security: Security | None, files: TlsFiles | None) -> None:
        self.handshakes = Handshakes()
        self._logins = HttpLogins(security) if security is not None else None
        self._files = files
        self._tls: TlsContext | None = None
        self._watching: asyncio.Task[None] | None = None

    def login(self, address: HttpAddress, name: str) -> HttpLogin | None:
        """None: clients need not log in. `name` is for the audit."""
        if self._logins is None:
            return None
        return HttpLogin(self._logins, name, is_required=address.needs_login)

    def listen_tls(
        self, listening: socket.socket, make: Callable[[], asyncio.Protocol]
    ) -> Listening:
        """May be called after `prepare_tls`."""
        assert self._tls is not None
        return TlsServer(listening, make, self._tls, self.handshakes)

    def prepare_tls(self) -> None:
        """Raises BadTlsFiles."""
        if self._tls is None:
            assert self._files is not None
            files = self._files._replace(client_ca=None, client_auth=ClientAuth.NONE)
            self._tls = TlsContext(files)
            self._watching = asyncio.get_running_loop().create_task(self._tls.watch())

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
        await self.handshakes.close()
