"""A connection whose client goes away in the middle of a request."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import pytest

from samsa.handlers.broker import HANDLERS, Broker
from samsa.server.connection import Connection
from samsa.server.listener import Server
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import request_frame
from samsa.wire.messages import fetch, leave_group

LEAVE = request_frame(APIS[ApiKey.LEAVE_GROUP], 3, 1, "c", leave_group.REQUEST(group_id="g"))
FETCH = request_frame(APIS[ApiKey.FETCH], 4, 2, "c", fetch.REQUEST())


@pytest.fixture
async def client() -> AsyncIterator[socket.socket]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    server = Server(cast(Broker, object()), advertise=("127.0.0.1", 9092))
    connection = Connection(ours, "127.0.0.1:1", server)
    server.connections.add(connection)
    connection.start()
    await asyncio.sleep(0)
    yield theirs
    theirs.close()
    await asyncio.wait([connection.ended], timeout=5)
    assert connection.ended.done()


class Slow:
    """A handler that has to wait, and what became of it."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.begun = asyncio.Event()
        self.ends: asyncio.Queue[str] = asyncio.Queue()

    async def __call__(self, *_: Any) -> None:
        self.begun.set()
        try:
            await self.gate.wait()
            self.ends.put_nowait("done")
        except asyncio.CancelledError:
            self.ends.put_nowait("cancelled")
            raise


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Callable[[ApiKey], Slow]:
    def make(key: ApiKey) -> Slow:
        handler = Slow()
        monkeypatch.setitem(HANDLERS, key, handler)
        return handler

    return make


async def test_what_a_client_asks_with_its_last_breath_is_done(
    client: socket.socket, slow: Callable[[ApiKey], Slow]
):
    handler = slow(ApiKey.LEAVE_GROUP)
    client.sendall(LEAVE)
    await handler.begun.wait()
    client.close()
    await asyncio.sleep(0.05)  # so that its going is noticed
    handler.gate.set()
    assert await asyncio.wait_for(handler.ends.get(), 5) == "done"


async def test_a_request_that_came_behind_it_is_done_too(
    client: socket.socket, slow: Callable[[ApiKey], Slow]
):
    handler = slow(ApiKey.LEAVE_GROUP)
    client.sendall(LEAVE + LEAVE)
    await handler.begun.wait()
    client.close()
    await asyncio.sleep(0.05)
    handler.gate.set()
    assert [await asyncio.wait_for(handler.ends.get(), 5) for _ in range(2)] == ["done", "done"]


async def test_nobody_waits_for_records_that_nobody_will_read(
    client: socket.socket, slow: Callable[[ApiKey], Slow]
):
    handler = slow(ApiKey.FETCH)
    client.sendall(FETCH)
    await handler.begun.wait()
    client.close()
    assert await asyncio.wait_for(handler.ends.get(), 5) == "cancelled"
