"""The HTTP port under clients that hold connections and do not use them."""

import asyncio
from collections.abc import AsyncIterator
from itertools import islice

import httpx
import pytest
from unit.http_api.given import Site

from samsa.http_api import http_protocol
from samsa.http_api.http_protocol import MOST_CONNECTIONS
from samsa.http_api.kafka_client import MOST_WAITING
from samsa.http_api.lazy_listener import LazyListener

HEAD = b"POST /topics HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BODY = HEAD + b"Content-Length: 100000\r\n\r\n{"


@pytest.fixture
async def listener(site: Site) -> AsyncIterator[LazyListener]:
    opened = LazyListener("127.0.0.1", 0)
    opened.open(site.broker, ("127.0.0.1", 9092))
    yield opened
    await opened.close()


async def answers(listener: LazyListener) -> bool:
    async with httpx.AsyncClient(base_url=listener.url or "") as client:
        return (await client.get("/topics")).status_code == 200


@pytest.mark.parametrize("said", [b"", b"GET /topics HTTP/1.1\r\nHost: ", BODY])
async def test_connections_that_wait_for_their_client_keep_nobody_out(
    listener: LazyListener, said: bytes
):
    assert await answers(listener)
    idle = []
    for _ in range(2 * MOST_CONNECTIONS):
        reader, writer = await asyncio.open_connection(listener.host, listener.port)
        writer.write(said)
        idle.append((reader, writer))
    assert await answers(listener)
    async with httpx.AsyncClient(base_url=listener.url or "") as kept:
        for _ in range(3):
            assert (await kept.get("/topics")).status_code == 200
            _, writer = await asyncio.open_connection(listener.host, listener.port)
            idle.append((reader, writer))
    for _, writer in idle:
        writer.close()


async def test_reads_that_wait_leave_connections_to_others(listener: LazyListener, site: Site):
    await site.broker.catalog.create("quiet", 1, {})
    path = "/topics/quiet/partitions/0/records?wait_ms=20000"
    limits = httpx.Limits(max_connections=MOST_CONNECTIONS)
    async with httpx.AsyncClient(base_url=listener.url or "", timeout=60, limits=limits) as client:
        asked = [asyncio.create_task(client.get(path)) for _ in range(MOST_WAITING + 9)]
        for first in islice(asyncio.as_completed(asked), 9):
            assert (await first).status_code == 200
        assert await answers(listener)
        assert sum(each.done() for each in asked) == 9
        for each in asked:
            each.cancel()
        await asyncio.wait(asked)


async def ended(reader: asyncio.StreamReader) -> bytes:
    try:
        return await asyncio.wait_for(reader.read(), 10)
    except ConnectionResetError:
        return b""


@pytest.mark.parametrize("said", [b"", b"GET /topics HTTP/1.1\r\nHost: ", BODY])
async def test_a_client_that_does_not_go_on_is_let_go(
    listener: LazyListener, said: bytes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(http_protocol, "HEAD_S", 0.1)
    monkeypatch.setattr(http_protocol, "BODY_GRACE_S", 0.1)
    reader, writer = await asyncio.open_connection(listener.host, listener.port)
    writer.write(said)
    assert await ended(reader) == b""
    writer.close()
    assert await answers(listener)


@pytest.mark.waits
async def test_a_client_that_waits_for_records_is_not_let_go(
    listener: LazyListener, site: Site, monkeypatch: pytest.MonkeyPatch
):
    """Its request is whole. As many looks as let another one go find nothing wrong with it."""
    monkeypatch.setattr(http_protocol, "HEAD_S", 0.1)
    monkeypatch.setattr(http_protocol, "BODY_GRACE_S", 0.1)
    await site.broker.catalog.create("quiet", 1, {})
    async with httpx.AsyncClient(base_url=listener.url or "", timeout=60) as client:
        wait = client.get("/topics/quiet/partitions/0/records?wait_ms=20000")
        waiting = asyncio.create_task(wait)
        for _ in range(3):
            reader, writer = await asyncio.open_connection(listener.host, listener.port)
            writer.write(BODY)
            assert await ended(reader) == b""
            writer.close()
        assert not waiting.done()
        body = {"records": [{"value": "x"}]}
        assert (await client.post("/topics/quiet/records", json=body)).status_code == 201
        assert (await waiting).status_code == 200
