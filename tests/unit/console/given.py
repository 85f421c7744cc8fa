"""The console on a broker in this process, with a clock set by hand, and streams read as they
come."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from unit.http_api.given import Api, Site

from samsa.http_api.app import application
from samsa.http_api.kafka_client import ServedBroker
from samsa.http_api.sessions import EVERYONE
from samsa_broker.console.app import add_routes
from samsa_broker.console.inside import Inside
from samsa_broker.console.state import Console
from samsa_broker.server.listener import Server

CONSOLE = "/console/api"
SECONDS = 20


@cache
def the_application() -> FastAPI:
    """It keeps nothing but whom to ask."""
    app = application(ServedBroker(None))  # type: ignore[arg-type]
    add_routes(app)
    return app


class ConsoleSite(Site):
    def __init__(self, folder: Path, **rules: Any) -> None:
        super().__init__(folder, **rules)
        self.served.may_wait = False  # the clock stands still: a fetch would wait for ever
        self.server = Server(self.broker)
        self.console = Console(self.served, Inside(self.server))
        # Rounds are made by the tests.
        self.console.sampler.start = self._opened  # type: ignore[method-assign]
        self.app = the_application()
        self.app.state.served, self.app.state.login = self.served, EVERYONE
        self.app.state.console = self.console

    def _opened(self) -> None:
        self.console.sampler.opened_ms = self.clock.now_ms()

    async def round(self, later_ms: int = 10_000) -> None:
        """A sample, while somebody looks at the console."""
        self.clock.now += later_ms
        self._opened()
        await self.console.sampler.sample()

    async def close(self) -> None:
        await self.console.close()
        await super().close()


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[ConsoleSite]:
    site = ConsoleSite(tmp_path)
    yield site
    await site.close()


@pytest.fixture
async def api(site: ConsoleSite) -> AsyncIterator[Api]:
    transport = httpx.ASGITransport(site.app, raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield Api(client)


class Stream:
    """An answer that goes on. Its client reads only when a test says so."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[Any] = asyncio.Queue()
        self._may_write = asyncio.Event()
        self._may_write.set()
        self.gone = asyncio.Event()
        self.ended = asyncio.Event()
        self.status = 0
        self.bytes = 0

    async def receive(self) -> dict[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            return
        await self._may_write.wait()
        if not message["more_body"]:
            self.ended.set()
        self.bytes += len(message["body"])
        for line in message["body"].splitlines():
            self._lines.put_nowait(json.loads(line))

    def stop_reading(self) -> None:
        self._may_write.clear()

    def go_on(self) -> None:
        self._may_write.set()

    async def line(self, kind: str) -> Any:
        """The next line of this kind."""
        async with asyncio.timeout(SECONDS):
            while True:
                line = await self._lines.get()
                if kind in line:
                    return line[kind]


@asynccontextmanager
async def streaming(site: ConsoleSite, path: str, query: str = "") -> AsyncIterator[Stream]:
    stream = Stream()
    scope = {
        "type": "http", "method": "GET", "path": CONSOLE + path, "query_string": query.encode(),
        "headers": [], "http_version": "1.1", "scheme": "http", "client": None,
        "server": None, "root_path": "", "raw_path": path.encode(), "app": site.app,
    }  # fmt: skip
    asked = asyncio.create_task(site.app(scope, stream.receive, stream.send))
    try:
        yield stream
    finally:
        stream.gone.set()
        stream.go_on()
        async with asyncio.timeout(SECONDS):
            await asked


async def lines(api: Api, path: str, **query: Any) -> list[Any]:
    """All lines of a stream that ends by itself."""
    answer = await api.client.get(CONSOLE + path, params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]
