"""The embedded stores of `samsa local-api`, in a thread of this process."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route

from samsa.http_api.asgi import AsgiServer
from samsa_websocket.local_gateway.stores.bucket import Bucket
from samsa_websocket.local_gateway.stores.dynamodb_api import DynamoApi
from samsa_websocket.local_gateway.stores.meter import Meter
from samsa_websocket.local_gateway.stores.s3_api import S3Api

METHODS = ["GET", "HEAD", "PUT", "POST", "DELETE"]


@contextmanager
def embedded_stores(folder: Path, bucket: str, keys: dict[str, str]) -> Iterator[str]:
    """Its endpoint, of both. `keys`: secrets by access key."""
    table = DynamoApi(folder / "table.db", keys, Meter())
    objects = S3Api(Bucket(folder), bucket, keys, Meter(), lambda _method, _size: None)
    routes = [
        Route("/", table.serve, methods=["POST"]),
        Route(f"/{bucket}", objects.serve, methods=METHODS),
        Route(f"/{bucket}/{{key:path}}", objects.serve, methods=METHODS),
    ]
    server = AsgiServer(uvicorn.Config(Starlette(routes=routes), log_config=None, lifespan="off"))
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listening:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
            table.close()
