"""The pool of connections, against a server that behaves and one that does not."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from samsa.aws.http import Http, Patience, post
from samsa.aws.http_answer import BadAnswer, HttpAnswer

HASTY = Patience(connect_s=1, read_s=0.2, tries=1)
ASKED = post("/", {"host": "here"}, b"")
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Site:
    """A server: `answers` in order, each to one request; later ones get OK."""

    def __init__(self) -> None:
        self.answers: list[bytes | None] = []
        self.connections = 0
        self.busy = self.busiest = 0
        self.writers: list[asyncio.StreamWriter] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                await self.answer(writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def answer(self, writer: asyncio.StreamWriter) -> None:
        self.busy += 1
        self.busiest = max(self.busy, self.busiest)
        await asyncio.sleep(0.01)
        said = self.answers.pop(0) if self.answers else OK
        self.busy -= 1
        if said is not None:
            writer.write(said)


@asynccontextmanager
async def a_site(
    connections: int = 4,
) -> AsyncIterator[tuple[Site, Callable[[], Awaitable[HttpAnswer]]]]:
    site = Site()
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    http = Http(f"http://127.0.0.1:{port}", connections, HASTY)
    try:
        yield site, lambda: http.ask(ASKED)
    finally:
        await http.close()
        server.close()
        await asyncio.sleep(0.01)


async def test_one_connection_serves_one_request_after_the_other():
    async with a_site() as (site, ask):
        assert [(await ask()).body for _ in range(5)] == [b"ok"] * 5
        assert site.connections == 1


async def test_no_more_connections_than_allowed_are_opened_however_many_ask():
    async with a_site(connections=3) as (site, ask):
        await asyncio.gather(*(ask() for _ in range(12)))
        assert (site.connections, site.busiest) == (3, 3)


async def test_an_answer_that_comes_too_late_is_not_taken_for_the_next():
    async with a_site() as (site, ask):
        site.answers = [None]
        with pytest.raises(TimeoutError):
            await ask()
        assert (await ask()).body == b"ok"
        assert site.connections == 2


async def test_the_connection_of_a_caller_that_stopped_waiting_is_not_used_again():
    async with a_site() as (site, ask):
        caller = asyncio.create_task(ask())  # type: ignore[arg-type]
        await asyncio.sleep(0.005)
        caller.cancel()
        await asyncio.wait([caller])
        assert (await ask()).body == b"ok"
        assert site.connections == 2


async def test_a_connection_that_was_closed_while_nobody_looked_loses_no_request():
    async with a_site() as (site, ask):
        await ask()
        # As after a freeze: the end has come, but our loop has not run to see it.
        site.writers[0].get_extra_info("socket").shutdown(socket.SHUT_RDWR)
        assert (await ask()).body == b"ok"


async def test_half_an_answer_is_none():
    async with a_site() as (site, ask):
        site.answers = [b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok"]
        with pytest.raises(TimeoutError):
            await ask()
        site.answers = [b"no HTTP at all\r\n\r\n"]
        with pytest.raises(BadAnswer):
            await ask()
        assert (await ask()).body == b"ok"


def test_a_client_goes_on_in_another_loop(unused_tcp_port: int):
    """Where one loop comes after the other, connections of the first are not used in the second."""
    http = Http(f"http://127.0.0.1:{unused_tcp_port}", 1, HASTY)

    async def ask() -> bytes:
        site = Site()
        server = await asyncio.start_server(site.serve, "127.0.0.1", unused_tcp_port)
        try:
            return (await http.ask(ASKED)).body
        finally:
            server.close()

    assert [asyncio.run(ask()) for _ in range(2)] == [b"ok"] * 2
