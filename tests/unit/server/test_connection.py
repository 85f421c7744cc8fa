"""A connection: a client that goes away in the middle of a request, and many that only beat."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from samsa.broker.broker import HANDLERS, Broker
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import request_frame
from samsa.wire.messages import fetch, heartbeat, leave_group
from samsa_broker.server import idle_poller
from samsa_broker.server.connection import Connection
from samsa_broker.server.listener import Server

LEAVE = request_frame(APIS[ApiKey.LEAVE_GROUP], 3, 1, "c", leave_group.REQUEST(group_id="g"))
FETCH = request_frame(APIS[ApiKey.FETCH], 4, 2, "c", fetch.REQUEST())


@pytest.fixture
async def client() -> AsyncIterator[socket.socket]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    server = Server(cast(Broker, SimpleNamespace(throttling=None)), advertise=("127.0.0.1", 9092))
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


BEAT = request_frame(APIS[ApiKey.HEARTBEAT], 3, 3, "c", heartbeat.REQUEST(group_id="g"))


class Crowd:
    """Several connections of one server, each of which a test speaks on."""

    def __init__(self) -> None:
        self.server = Server(
            cast(Broker, SimpleNamespace(throttling=None)), advertise=("127.0.0.1", 9092)
        )
        self.clients: list[socket.socket] = []
        self.connections: list[Connection] = []

    def add(self) -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.setblocking(False)
        connection = Connection(ours, "127.0.0.1:1", self.server)
        self.server.connections.add(connection)
        connection.start()
        self.clients.append(theirs)
        self.connections.append(connection)

    async def ask(self, client: socket.socket, frame: bytes) -> bytes:
        client.sendall(frame)
        return await asyncio.wait_for(asyncio.get_running_loop().sock_recv(client, 4096), 5)

    async def beat(self, times: int) -> None:
        for _ in range(times):
            for client in self.clients:
                assert await self.ask(client, BEAT)

    async def close(self) -> None:
        for client in self.clients:
            client.close()
        await asyncio.wait([connection.ended for connection in self.connections], timeout=5)
        assert all(connection.ended.done() for connection in self.connections)
        assert len(self.server.idle_poller) == 0


@pytest.fixture
async def crowd(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Crowd]:
    async def beaten(*_: Any) -> Any:
        return heartbeat.RESPONSE()

    async def left(*_: Any) -> Any:
        return leave_group.RESPONSE()

    monkeypatch.setitem(HANDLERS, ApiKey.HEARTBEAT, beaten)
    monkeypatch.setitem(HANDLERS, ApiKey.LEAVE_GROUP, left)
    monkeypatch.setattr(idle_poller, "SLOW_S", 0.0)
    monkeypatch.setattr(idle_poller, "ENOUGH", 4)
    crowd = Crowd()
    for _ in range(5):
        crowd.add()
    await asyncio.sleep(0)
    yield crowd
    await crowd.close()


async def test_who_only_beats_is_looked_at_with_others_and_answered(crowd: Crowd):
    await crowd.beat(idle_poller.HEARTBEATS_IN_A_ROW)
    assert len(crowd.server.idle_poller) == 2  # the first three came before there were enough
    await crowd.beat(1)
    assert len(crowd.server.idle_poller) == 5
    await crowd.beat(3)
    assert len(crowd.server.idle_poller) == 5


async def test_who_asks_for_something_else_is_watched_again(crowd: Crowd):
    await crowd.beat(idle_poller.HEARTBEATS_IN_A_ROW + 2)
    assert await crowd.ask(crowd.clients[0], LEAVE)
    assert len(crowd.server.idle_poller) == 4
    assert await crowd.ask(crowd.clients[0], LEAVE)
    assert await crowd.ask(crowd.clients[0], BEAT)
    assert len(crowd.server.idle_poller) == 4


async def test_beats_that_come_fast_wake_as_ever(crowd: Crowd, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(idle_poller, "SLOW_S", 60.0)
    await crowd.beat(idle_poller.HEARTBEATS_IN_A_ROW + 3)
    assert len(crowd.server.idle_poller) == 0


async def test_when_few_are_left_they_are_watched_again(crowd: Crowd):
    await crowd.beat(idle_poller.HEARTBEATS_IN_A_ROW + 2)
    for client in crowd.clients[1:]:
        client.close()
    await asyncio.wait([connection.ended for connection in crowd.connections[1:]], timeout=5)
    await asyncio.sleep(3 * idle_poller.LOOK_EVERY_S)
    assert len(crowd.server.idle_poller) == 0
    assert await crowd.ask(crowd.clients[0], BEAT)
