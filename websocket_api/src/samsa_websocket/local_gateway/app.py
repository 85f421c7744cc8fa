"""Assembles the local API Gateway: functions, gateway, routes, and the server they run in.

ws://host:port/STAGE                           the WebSocket API
http://host:port/STAGE/@connections/ID         what functions push through
http://host:port/_local/stats, /_local/chaos   not in AWS: counters, and injected faults
http://host:port/…                             the HTTP API, if there is one
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp

from samsa.http_api.asgi import AsgiServer
from samsa.http_api.origins import OwnSiteOnly, is_loopback

from .authoriser import Authoriser
from .chaos import Chaos
from .control import Control
from .environments import EnvironmentPool, Function
from .events import ApiAddress
from .gateway import LocalGateway
from .http_api import HttpApi
from .integration import Integration
from .limits import ApiGatewayLimits
from .management import Management
from .sockets import protocol
from .stats import GatewayStats

FUNCTIONS = ("gateway", "http")
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


@dataclass(frozen=True, slots=True)
class LocalGatewaySettings:
    functions: Path
    """The folder that holds gateway/app.py and, if there is one, http/app.py."""
    host: str = "127.0.0.1"
    port: int = 3001
    stage: str = "local"
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of the functions, beside Lambda's own and SAMSA_CONNECTIONS."""
    keys: Mapping[str, str] | None = None
    """Secrets by access key; None requires no signature."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Who has such a key, as in `Authoriser`."""
    limits: ApiGatewayLimits = field(default_factory=ApiGatewayLimits)
    chaos: Chaos = field(default_factory=Chaos)


class LocalApi:
    """`url` is for clients, `endpoint` is where functions push."""

    def __init__(self, settings: LocalGatewaySettings, host: str, port: int) -> None:
        self.url = f"ws://{host}:{port}/{settings.stage}"
        self.endpoint = f"http://{host}:{port}/{settings.stage}"
        self.stats = GatewayStats()
        self._host = host
        self._settings = settings
        self._api = ApiAddress(f"{host}:{port}", settings.stage)
        self._authoriser = Authoriser(settings.keys, self._api.account, settings.names)
        self.pools = {
            name: EnvironmentPool(self._function(name), settings.limits)
            for name in FUNCTIONS
            if (settings.functions / name / "app.py").exists()
        }
        self.gateway = LocalGateway(
            self._api,
            self._integration("gateway"),
            self._authoriser,
            settings.limits,
            settings.chaos,
            self.stats,
        )

    def _function(self, name: str) -> Function:
        variables = {**self._settings.environment, "SAMSA_CONNECTIONS": self.endpoint}
        return Function(name, self._settings.functions / name, environment=variables)

    def _integration(self, name: str) -> Integration:
        settings = self._settings
        return Integration(self.pools[name], settings.limits, settings.chaos, self.stats)

    def application(self) -> ASGIApp:
        stage = f"/{self._api.stage}"
        control = Control(self.gateway, self.pools, self._settings.chaos)
        routes: list[BaseRoute] = [
            WebSocketRoute(stage, self.gateway.meet),
            WebSocketRoute(f"{stage}/", self.gateway.meet),
            Route(
                f"{stage}/@connections/{{connection_id}}",
                Management(self.gateway).serve,
                methods=["GET", "POST", "DELETE"],
            ),
            Route("/_local/stats", control.stats),
            Route("/_local/chaos", control.weather, methods=["POST"]),
        ]
        if "http" in self.pools:
            http = HttpApi(self._api, self._integration("http"), self._authoriser)
            routes.append(Route("/{path:path}", http.serve, methods=METHODS))
        loopback = is_loopback(self._host)
        return OwnSiteOnly(Starlette(routes=routes), _stranger, loopback=loopback)

    async def close(self) -> None:
        await self.gateway.drain()
        for pool in self.pools.values():
            await pool.close()


def _stranger(status: int, why: str) -> ASGIApp:
    return JSONResponse({"message": why}, status)


@contextlib.asynccontextmanager
async def serving(settings: LocalGatewaySettings) -> AsyncIterator[LocalApi]:
    """Raises OSError if the port is taken."""
    listening = socket.create_server((settings.host, settings.port), backlog=1024)
    host, port = listening.getsockname()[:2]
    api = LocalApi(settings, host, port)
    server = AsgiServer(_config(api.application(), settings.limits))
    task = asyncio.ensure_future(server.serve([listening]))
    try:
        await server.ready.wait()
        yield api
    finally:
        server.should_exit = True
        await task
        await api.close()


def _config(application: ASGIApp, limits: ApiGatewayLimits) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        ws=protocol(limits),
        ws_ping_interval=None,  # API Gateway sends none
        ws_per_message_deflate=False,
        log_config=None,
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=2,
    )
