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
from .kafka_client import ServedBroker
from .lazy_listener import Listen
from .sessions import Login


def server(
    served: ServedBroker,
    login: Login,
    listening: socket.socket,
    names: Collection[str] = (),
    listen: Listen | None = None,
) -> AsgiServer:
    """Importing and assembling this takes a second; it does not use the event loop."""
    loopback = is_loopback(str(listening.getsockname()[0]))
    app: ASGIApp = OwnSiteOnly(application(served, login), stranger, loopback=loopback, names=names)
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
