"""The HTTP API on a port of this machine."""

import socket
from collections.abc import Collection

import uvicorn
from starlette.types import ASGIApp

from samsa.server.asgi import AsgiServer
from samsa.server.http_protocol import MOST_CONNECTIONS, BoundedProtocol
from samsa.server.origins import OwnSiteOnly, is_loopback

from .app import application
from .asking import Kafka
from .guard import stranger


def server(kafka: Kafka, listening: socket.socket, names: Collection[str] = ()) -> AsgiServer:
    """What takes a second to import and to put together; it does not touch the loop."""
    loopback = is_loopback(str(listening.getsockname()[0]))
    app: ASGIApp = OwnSiteOnly(application(kafka), stranger, loopback=loopback, names=names)
    return AsgiServer(
        uvicorn.Config(
            app,
            http=BoundedProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",  # what it warns of are clients that do not behave
            access_log=False,
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS + 1,
            timeout_graceful_shutdown=2,
        )
    )
