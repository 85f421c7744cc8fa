"""The HTTP API on a port of this machine."""

import socket
from collections.abc import Collection

import uvicorn
from starlette.types import ASGIApp

from samsa.http_api.asgi import AsgiServer
from samsa.http_api.http_protocol import MOST_CONNECTIONS, BoundedProtocol
from samsa.http_api.origins import OwnSiteOnly, is_loopback

from .app import application
from .guard import stranger
from .kafka_client import Served
from .lazy_listener import Extension, Listen
from .sessions import Login


def server(
    served: Served,
    login: Login,
    listening: socket.socket,
    names: Collection[str] = (),
    listen: Listen | None = None,
    extension: Extension | None = None,
) -> AsgiServer:
    """Importing and assembling this takes a second; it does not use the event loop."""
    loopback = is_loopback(str(listening.getsockname()[0]))
    routes = application(served, login)
    if extension is not None:
        extension.add_to(routes)
    app: ASGIApp = OwnSiteOnly(routes, stranger, loopback=loopback, names=names)
    return AsgiServer(
        uvicorn.Config(
            app,
            http=BoundedProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",  # its warnings are about clients that misbehave
            access_log=False,
            server_header=False,
            proxy_headers=False,  # they would let a client choose the address that ACLs see
            limit_concurrency=MOST_CONNECTIONS + 1,
            timeout_graceful_shutdown=2,
        ),
        listen,
    )
