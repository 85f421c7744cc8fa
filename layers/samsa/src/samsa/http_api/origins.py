"""Refuses HTTP requests and WebSockets from pages of other sites, for a server on this machine.

A browser lets every page on the web send requests to this machine, and open WebSockets to it.
Two headers tell these apart, and both are checked on every request:

- Host. A page whose name is made to point at this machine (DNS rebinding) sends that name. Allowed
  are addresses, `localhost`, and the names that were configured.
- Origin. Browsers send it with every WebSocket and with every request that may change something.
  It has to equal the host that was asked; other programs send no Origin.
"""

from collections.abc import Awaitable, Callable, Collection, MutableMapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Refuse = Callable[[int, str], App]

FORBIDDEN, MISDIRECTED = 403, 421
ANY = "*"


class OwnSiteOnly:
    def __init__(
        self, app: App, refuse: Refuse, *, loopback: bool, names: Collection[str] = ()
    ) -> None:
        """`loopback`: the server listens only there, so other addresses cannot be its own."""
        self._app = app
        self._refuse = refuse
        self._loopback = loopback
        self._names = {name.lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refused = self._refused(scope["headers"])
        if refused is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()  # its handshake, which is not accepted: the client gets 403
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._refuse(*refused)(scope, receive, send)

    def _refused(self, headers: Collection[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        hosts, origins = _all(headers, b"host"), _all(headers, b"origin")
        host = hosts[0] if len(hosts) == 1 else ""
        if not self._is_known(_name(host)):
            return MISDIRECTED, f"{host!r} is not this machine"
        for origin in origins:
            if _site(origin) != host.lower():
                return FORBIDDEN, f"a page of {origin!r} may not ask this machine"
        return None

    def _is_known(self, name: str) -> bool:
        if name in self._names or ANY in self._names or is_loopback(name):
            return True
        return not self._loopback and _is_address(name)


def is_loopback(host: str) -> bool:
    if host in ("localhost", "localhost."):
        return True
    return _is_address(host) and ip_address(host).is_loopback


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _site(origin: str) -> str:
    """Name and port; empty if it is no address."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _all(headers: Collection[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key.lower() == name]


def _name(host: str) -> str:
    """Without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()
