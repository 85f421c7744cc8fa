"""The HTTP listener of `samsa up`: it costs nothing before its first client, and never stops the
broker."""

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from unit.http_api.given import Site

from samsa.http_api import lazy_listener as listener
from samsa.http_api.lazy_listener import LazyListener
from samsa_broker.cli import up_http
from samsa_broker.cli.main import parser
from samsa_broker.cli.up_http import HttpFront
from samsa_broker.server.http_entry import HttpAddress, HttpEntry
from samsa_broker.server.listener import Server

KAFKA = ("127.0.0.1", 9092)
OPEN = HttpEntry(None, None)


@pytest.fixture
def taken() -> Iterator[tuple[str, int]]:
    """Somebody listens there."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[:2]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_it_serves_on_the_port_that_it_says(site: Site, host: str):
    opened = LazyListener(host, 0)
    opened.open(site.broker, KAFKA)
    async with httpx.AsyncClient(base_url=opened.url or "") as client:
        both = await asyncio.gather(client.get("/cluster"), client.get("/health"))
        assert [answer.status_code for answer in both] == [200, 200]
        assert both[0].json()["brokers"] == [
            {"id": 0, "host": "127.0.0.1", "port": 9092, "zone": None}
        ]
        stranger = await client.get("/topics", headers={"host": "samsa.example"})
        assert stranger.status_code == 421
    await opened.close()
    with pytest.raises(OSError, match=r"refused"):
        socket.create_connection((opened.host, opened.port))


async def test_a_listener_that_had_no_client_closes_too(site: Site):
    opened = LazyListener("127.0.0.1", 0)
    assert opened.url is None
    await opened.close()
    opened.open(site.broker, KAFKA)
    await opened.close()


async def test_it_closes_while_it_is_still_being_put_together(site: Site):
    opened = LazyListener("127.0.0.1", 0)
    opened.open(site.broker, KAFKA)
    _, writer = await asyncio.open_connection(opened.host, opened.port)
    while opened._serving is None:  # noqa: ASYNC110 - it has no event to wait for
        await asyncio.sleep(0)
    await opened.close()
    writer.close()


async def test_the_usual_port_may_be_taken_and_the_broker_goes_on(
    site: Site, taken: tuple[str, int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(up_http, "DEFAULT", HttpAddress(*taken))
    front = HttpFront(...)
    front.open(Server(site.broker), KAFKA, OPEN)
    assert f"HTTP port {taken[1]} on 127.0.0.1 is taken" in front.line
    assert "--http 127.0.0.1:0" in front.line
    await front.close()


async def test_a_port_that_was_asked_for_must_be_free(site: Site, taken: tuple[str, int]):
    with pytest.raises(OSError, match="is taken; --http"):
        HttpFront(HttpAddress(*taken)).open(Server(site.broker), KAFKA, OPEN)


async def test_without_its_packages_there_is_none_and_the_broker_goes_on(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    def without_fastapi(name: str) -> Any:
        return None if name == "fastapi" else object()

    monkeypatch.setattr(listener, "find_spec", without_fastapi)
    front = HttpFront(...)
    front.open(Server(site.broker), KAFKA, OPEN)
    assert (
        "fastapi is not installed; try: pip install fastapi fastapi-offline uvicorn" in front.line
    )
    with pytest.raises(OSError, match="not installed"):
        HttpFront(HttpAddress("127.0.0.1", 0)).open(Server(site.broker), KAFKA, OPEN)


def test_the_last_word_counts_and_the_usual_place_is_loopback():
    def given(*words: str) -> Any:
        return parser().parse_args(["up", *words]).http

    assert given("--no-http") is None
    assert given("--no-http", "--http", "[::1]:0") == HttpAddress("::1", 0)
    assert given("--http", "http://[::1]:0") == HttpAddress("::1", 0)
    assert given("--http", "https://0.0.0.0:8443/") == HttpAddress("0.0.0.0", 8443, has_tls=True)
    assert given("--http", "0.0.0.0:80", "--no-http") is None
    assert given() is ...
    assert HttpAddress("127.0.0.1", 8080) == up_http.DEFAULT
    assert up_http.front(None) is None
