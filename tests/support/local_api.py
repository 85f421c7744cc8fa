"""A local API Gateway in the test's own event loop, with functions that a test chooses."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from websockets.asyncio.client import ClientConnection, connect

from samsa_websocket.local_gateway.app import LocalApi, LocalGatewaySettings, serving
from samsa_websocket.local_gateway.chaos import Chaos
from samsa_websocket.local_gateway.limits import ApiGatewayLimits

T = TypeVar("T")


class RunningGateway:
    """One local API Gateway, as a test looks at it."""

    def __init__(self, api: LocalApi, events: Path) -> None:
        self.api = api
        self.url = api.url
        self.endpoint = api.endpoint
        self.root = api.endpoint.rpartition("/")[0]
        self._events = events

    def client(self, query: str = "", **options: Any) -> connect:
        return connect(f"{self.url}{query}", compression=None, ping_interval=None, **options)

    def events(self, kind: str) -> list[dict[str, Any]]:
        """What the function was given, in the order in which it began."""
        lines = self._events.read_text().splitlines() if self._events.exists() else []
        found = [json.loads(line) for line in lines]
        return [event for event in found if event["requestContext"]["eventType"] == kind]


@asynccontextmanager
async def a_local_gateway(
    folder: Path,
    functions: Path,
    chaos: Chaos | None = None,
    keys: dict[str, str] | None = None,
    data: Path | None = None,
    **limits: Any,
) -> AsyncIterator[RunningGateway]:
    events = folder / "events"
    settings = LocalGatewaySettings(
        functions=functions,
        port=0,
        environment={"EVENTS": str(events)},
        keys=keys,
        limits=ApiGatewayLimits(**limits),
        chaos=chaos or Chaos(),
        data=data,
    )
    async with serving(settings) as api:
        yield RunningGateway(api, events)


async def ask(client: ClientConnection, text: str, seconds: float = 10) -> str:
    await client.send(text)
    return await hear(client, seconds)


async def hear(client: ClientConnection, seconds: float = 10) -> str:
    async with asyncio.timeout(seconds):
        heard = await client.recv()
    assert isinstance(heard, str)
    return heard


async def becomes_true(ask: Callable[[], T], seconds: float = 5.0) -> T:
    """The first true answer, or the last one."""
    for _ in range(int(seconds / 0.02)):
        if answer := ask():
            return answer
        await asyncio.sleep(0.02)
    return ask()
