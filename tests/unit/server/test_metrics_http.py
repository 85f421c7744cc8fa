"""The metrics port under clients that do not behave."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from samsa_broker.server import metrics_http
from samsa_broker.server.metrics_http import MOST, MetricsServer

GET = b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: text/plain\r\n\r\n"


@pytest.fixture
async def port() -> AsyncIterator[int]:
    server = MetricsServer(lambda accepted: (accepted, b"samsa_up 1\n"))
    yield await server.open("127.0.0.1", 0)
    await server.close()


async def ask(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = await asyncio.wait_for(reader.read(), 5)
    writer.close()
    return answer


async def test_a_get_is_answered_and_the_connection_closed(port: int):
    answer = await ask(port, GET)
    assert answer.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n")
    assert answer.endswith(b"\r\n\r\nsamsa_up 1\n")
    assert (await ask(port, GET.replace(b"GET", b"HEAD"))).endswith(b"\r\n\r\n")
    assert b" 405 " in await ask(port, GET.replace(b"GET", b"POST"))


async def test_many_idle_connections_do_not_keep_others_out(port: int):
    idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3 * MOST)]
    assert b" 200 " in await ask(port, GET)
    ended = [await asyncio.wait_for(_end(reader), 5) for reader, _ in idle[: 2 * MOST]]
    assert ended == [b""] * 2 * MOST
    for _, writer in idle:
        writer.close()


async def _end(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""


async def test_a_client_that_does_not_finish_its_request_is_let_go(
    port: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(metrics_http, "PATIENCE_S", 0.05)
    assert await asyncio.wait_for(_unfinished(port, GET[:-2]), 5) == b""


async def test_a_request_without_end_is_not_kept(port: int):
    assert await asyncio.wait_for(_unfinished(port, b"x" * 100_000), 5) == b""


async def _unfinished(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    ended = await _end(reader)
    writer.close()
    return ended
