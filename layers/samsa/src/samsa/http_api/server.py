"""The HTTP API on a port of this machine."""

import socket

import uvicorn
from starlette.types import ASGIApp

from samsa.server.asgi import AsgiServer

from .app import application
from .asking import Kafka
from .guard import OnlyFromHere, is_loopback

AT_ONCE = 100
"""Requests; who comes beyond is told 503."""


def server(kafka: Kafka, listening: socket.socket) -> AsgiServer:
    """What takes a second to import and to put together; it does not touch the loop."""
    app: ASGIApp = application(kafka)
    if is_loopback(str(listening.getsockname()[0])):
        app = OnlyFromHere(app)
    return AsgiServer(
        uvicorn.Config(
            app,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            limit_concurrency=AT_ONCE,
            timeout_graceful_shutdown=2,
        )
    )
