"""Assembles the local API Gateway: functions, gateway, routes, and the server they run in.

ws://host:port/STAGE                           the WebSocket API
http://host:port/STAGE/@connections/ID         what functions push through
http://host:port/_local/stats, /_local/chaos   not in AWS: counters, and injected faults
http://host:port/, /samsa-objects/…            not there in AWS: the embedded stores, if in use
http://host:port/…                             the HTTP API, if there is one
"""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
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
from .observer import Observer
from .schedule import JANITOR, JANITOR_S, Schedule
from .sockets import protocol
from .stats import GatewayStats
from .stores.dynamodb_api import TARGET
from .stores.embedded import EmbeddedStores
from .stores.meter import Meter
from .stores.store_keys import KeysOfBoth

FUNCTIONS = ("gateway", "http", JANITOR)
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


@dataclass(frozen=True, slots=True)
class LocalGatewaySettings:
    functions: Path
    """The folder that holds gateway/app.py and, if there are such, http/app.py, janitor/app.py."""
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
    data: Path | None = None
    """The folder of the embedded stores; None if the functions have others."""
    janitor_s: float = 0.0
    """How often the janitor is called; 0 for never."""
    observer: Observer = field(default_factory=Observer)


class LocalApi:
    """`url` is for clients, `endpoint` is where functions push."""

    def __init__(
        self,
        settings: LocalGatewaySettings,
        host: str,
        port: int,
        stores: EmbeddedStores | None = None,
    ) -> None:
        self.url = f"ws://{host}:{port}/{settings.stage}"
        self.endpoint = f"http://{host}:{port}/{settings.stage}"
        self.stats = GatewayStats()
        self.stores = stores
        self._meter = stores.meter if stores else Meter()
        self._host = host
        self._origin = f"http://{host}:{port}"
        self._settings = settings
        self._api = ApiAddress(f"{host}:{port}", settings.stage)
        keys = settings.keys
        if keys is not None and stores is not None:
            keys = KeysOfBoth(keys, stores.keys)  # functions sign what they push
        self._authoriser = Authoriser(keys, self._api.account, settings.names)
        self.pools = {
            name: EnvironmentPool(self._function(name), self._limits_of(name))
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
            settings.observer,
        )

    def _function(self, name: str) -> Function:
        variables = {**self._settings.environment, "SAMSA_CONNECTIONS": self.endpoint}
        stores = self.stores
        if stores is not None:
            variables |= stores.environment(self._origin)
        issue = stores.issue if stores else None
        return Function(name, self._settings.functions / name, environment=variables, issue=issue)

    def _limits_of(self, name: str) -> ApiGatewayLimits:
        limits = self._settings.limits
        return replace(limits, function_s=JANITOR_S, environments=1) if name == JANITOR else limits

    def _integration(self, name: str) -> Integration:
        settings, observer = self._settings, self._settings.observer
        return Integration(
            self.pools[name], settings.limits, settings.chaos, self.stats, observer, self._meter
        )

    def schedule(self) -> Schedule | None:
        """The calls of the janitor, if there are to be any."""
        every_s = self._settings.janitor_s
        if not every_s or JANITOR not in self.pools:
            return None
        return Schedule(self._integration(JANITOR), every_s)

    def connection_s(self) -> float:
        """Of all connections, in seconds: those that are open, too."""
        now = time.monotonic()
        is_open = self.gateway.connections.values()
        return self.stats.connection_s + sum(now - connection.born for connection in is_open)

    def application(self) -> ASGIApp:
        stage = f"/{self._api.stage}"
        used = self.stores.meter.total if self.stores else None
        control = Control(self.gateway, self.pools, self._settings.chaos, used)
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
        if self.stores is not None:
            routes += self.stores.routes()
            routes.append(Route("/", self._root, methods=["POST"]))
        if "http" in self.pools:
            http = HttpApi(self._api, self._integration("http"), self._authoriser)
            routes.append(Route("/{path:path}", http.serve, methods=METHODS))
        loopback = is_loopback(self._host)
        return OwnSiteOnly(Starlette(routes=routes), _stranger, loopback=loopback)

    async def _root(self, request: Request) -> Response:
        """DynamoDB's requests; what else is posted there is for the HTTP API."""
        if self.stores is not None and TARGET in request.headers:
            return await self.stores.table.serve(request)
        if "http" not in self.pools:
            return JSONResponse({"message": "Not Found"}, 404)
        return await HttpApi(self._api, self._integration("http"), self._authoriser).serve(request)

    async def let_go(self) -> None:
        """Close the connections of all clients, and wait for what follows."""
        await self.gateway.close_all()
        await self.gateway.drain()

    async def close(self) -> None:
        await self.gateway.drain()
        for pool in self.pools.values():
            await pool.close()


def _stranger(status: int, why: str) -> ASGIApp:
    return JSONResponse({"message": why}, status)


@contextlib.asynccontextmanager
async def serving(settings: LocalGatewaySettings) -> AsyncIterator[LocalApi]:
    """Raises OSError if the port is taken, StoresUnusable."""
    async with contextlib.AsyncExitStack() as ends:
        listening = socket.create_server((settings.host, settings.port), backlog=1024)
        ends.callback(listening.close)
        # Its connections inherit it. asyncio leaves it to us for such a socket, and without it each
        # answer waits 40 ms for an acknowledgement.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        host, port = listening.getsockname()[:2]
        stores = await _opened(settings, ends)
        api = LocalApi(settings, host, port, stores)
        server = AsgiServer(_config(api.application(), settings.limits))
        task = asyncio.ensure_future(server.serve([listening]))
        try:
            await server.ready.wait()
            async with _beside(api, stores):
                yield api
        finally:
            # First: each $disconnect is an event, whose function may ask the stores.
            await api.let_go()
            server.should_exit = True
            await task
            await api.close()


async def _opened(
    settings: LocalGatewaySettings, ends: contextlib.AsyncExitStack
) -> EmbeddedStores | None:
    if settings.data is None:
        return None
    stores = EmbeddedStores(settings.data, settings.observer.transferred)
    ends.callback(stores.close)
    await stores.open()
    return stores


@contextlib.asynccontextmanager
async def _beside(api: LocalApi, stores: EmbeddedStores | None) -> AsyncIterator[None]:
    """What AWS does by itself: it removes what has expired, and calls the janitor."""
    schedule = api.schedule()
    work = [stores.tend()] if stores else []
    work += [schedule.run()] if schedule else []
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


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
