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
from .kafka_client import InProcessClient


def server(
    kafka: InProcessClient, listening: socket.socket, names: Collection[str] = ()
) -> AsgiServer:
    """Importing and assembling this takes a second; it does not use the event loop."""
    loopback = is_loopback(str(listening.getsockname()[0]))
    app: ASGIApp = OwnSiteOnly(application(kafka), stranger, loopback=loopback, names=names)
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
            limit_concurrency=MOST_CONNECTIONS + 1,
            timeout_graceful_shutdown=2,
        )
    )
