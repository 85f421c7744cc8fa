"""How long requests take is counted where somebody wants to know it, by every way they may go."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from server.talk import batch
from unit.http_api.given import Site

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import request_frame
from samsa.wire.messages import fetch, produce
from samsa_broker.server.connection import Connection
from samsa_broker.server.latency import Latencies
from samsa_broker.server.listener import Server


class Wire:
    """A client of a server, with a topic of one partition."""

    def __init__(self, site: Site) -> None:
        self.server = Server(site.broker, advertise=("127.0.0.1", 9092))
        ours, self._client = socket.socketpair()
        ours.setblocking(False)
        self._client.setblocking(False)
        self._connection = Connection(ours, "127.0.0.1:1", self.server)
        self.server.connections.add(self._connection)
        self._connection.start()

    async def ask(self, frame: bytes) -> None:
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(self._client, frame)
        assert await asyncio.wait_for(loop.sock_recv(self._client, 65536), 5)

    async def produce(self) -> None:
        partition = produce.PARTITION(index=0, records=batch(b"x"))
        topic = produce.TOPIC(name="orders", partition_data=[partition])
        row = produce.REQUEST(acks=-1, timeout_ms=5_000, topic_data=[topic])
        await self.ask(request_frame(APIS[ApiKey.PRODUCE], 9, 1, "c", row))

    async def fetch(self) -> None:
        partition = fetch.PARTITION(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
        topic = fetch.TOPIC(topic="orders", partitions=[partition])
        row = fetch.REQUEST(max_wait_ms=0, min_bytes=0, topics=[topic])
        await self.ask(request_frame(APIS[ApiKey.FETCH], 12, 2, "c", row))

    async def close(self) -> None:
        self._client.close()
        await asyncio.wait([self._connection.ended], timeout=5)


@pytest.fixture
async def wire(tmp_path: Path) -> AsyncIterator[Wire]:
    site = Site(tmp_path)
    await site.broker.catalog.create("orders", 1, {})
    wire = Wire(site)
    await asyncio.sleep(0)
    yield wire
    await wire.close()
    await site.close()


async def test_every_produce_and_every_fetch_is_counted_once(wire: Wire):
    latencies = wire.server.stats.latencies = Latencies()
    for _ in range(3):  # the second and the third go the shorter way
        await wire.produce()
    await wire.fetch()
    assert latencies.produce.take().total() == 3
    taken = latencies.fetch.take()
    assert taken.total() == 1
    assert 0 < next(iter(taken)) < 5_000_000


async def test_a_produce_that_began_before_anybody_wanted_to_know_does_not_count(wire: Wire):
    await wire.produce()
    latencies = wire.server.stats.latencies = Latencies()
    await wire.fetch()
    await wire.produce()
    assert (latencies.produce.take().total(), latencies.fetch.take().total()) == (1, 1)
