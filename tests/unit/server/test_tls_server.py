"""TLS for servers of asyncio's protocols: bytes arrive as they were sent, clients that do not take
part hold up nobody."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest
from support.tls import Certificates

from samsa.runtime.tls_context import TlsContext
from samsa_broker.server import handshakes as handshaking
from samsa_broker.server import tls_server
from samsa_broker.server.handshakes import Handshakes
from samsa_broker.server.tls_server import TlsServer
from samsa_broker.server.tls_transport import HIGH, TlsTransport

PATIENCE_S = 20


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


class Echo(asyncio.Protocol):
    """Answers with what it gets, and notes what happens to it."""

    transport: TlsTransport

    def __init__(self, running: "Running") -> None:
        self.running = running
        self.received = bytearray()
        self.happened: list[Any] = []
        running.protocols.append(self)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, TlsTransport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        if data == b"fail":
            raise ValueError("a protocol that fails")
        if self.running.echoes:
            self.transport.write(data)

    def pause_writing(self) -> None:
        self.happened.append("pause")

    def resume_writing(self) -> None:
        self.happened.append("resume")

    def connection_lost(self, exc: Exception | None) -> None:
        self.happened.append("lost")


class Running:
    def __init__(self, certificates: Certificates) -> None:
        self.certificates = certificates
        self.protocols: list[Echo] = []
        self.echoes = True
        self.handshakes = Handshakes()
        listening = socket.create_server(("127.0.0.1", 0), backlog=500)
        listening.setblocking(False)
        self.address = listening.getsockname()
        self.tls = TlsContext(certificates.files())
        self.server = TlsServer(listening, lambda: Echo(self), self.tls, self.handshakes)

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(
            *self.address, ssl=self.certificates.client_context(), limit=2**24
        )

    async def protocol(self) -> Echo:
        while not self.protocols:  # noqa: ASYNC110 - it has no event to wait for
            await asyncio.sleep(0.01)
        return self.protocols[-1]


@pytest.fixture
async def running(certificates: Certificates) -> AsyncIterator[Running]:
    running = Running(certificates)
    yield running
    for each in running.protocols:
        each.transport.abort()
    running.server.close()
    await running.server.wait_closed()
    await running.handshakes.close()


async def until(true: Any) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not true():  # noqa: ASYNC110 - it has no event to wait for
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("size", [1, 100, 16_384, 16_385, 3_000_000])
async def test_what_is_sent_comes_back_unchanged(running: Running, size: int):
    reader, writer = await running.connect()
    sent = os.urandom(size)
    writer.write(sent)
    assert await asyncio.wait_for(reader.readexactly(size), PATIENCE_S) == sent
    writer.close()
    protocol = await running.protocol()
    await until(lambda: protocol.happened[-1:] == ["lost"])
    assert protocol.happened.count("lost") == 1


async def test_it_says_who_the_client_is_and_that_it_came_by_tls(running: Running):
    _, writer = await running.connect()
    transport = (await running.protocol()).transport
    own = writer.get_extra_info("sockname")
    assert transport.get_extra_info("peername") == own
    assert transport.get_extra_info("socket").getpeername() == own
    assert transport.get_extra_info("sslcontext") is running.tls.current
    writer.close()


async def test_a_client_that_does_not_read_makes_the_protocol_wait(running: Running):
    running.echoes = False
    reader, writer = await running.connect()
    protocol = await running.protocol()
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    sent = os.urandom(20_000_000)
    for start in range(0, len(sent), 1_000_000):
        protocol.transport.write(sent[start : start + 1_000_000])
    assert protocol.happened == ["pause"]
    assert protocol.transport.get_write_buffer_size() > HIGH
    writer.transport.resume_reading()  # type: ignore[attr-defined]
    assert await asyncio.wait_for(reader.readexactly(len(sent)), PATIENCE_S) == sent
    assert protocol.happened == ["pause", "resume"]
    writer.close()


async def test_closing_sends_what_is_left_and_says_goodbye(running: Running):
    running.echoes = False
    reader, _ = await running.connect()
    protocol = await running.protocol()
    sent = os.urandom(5_000_000)
    protocol.transport.write(sent)
    protocol.transport.close()
    protocol.transport.write(b"too late")
    assert await asyncio.wait_for(reader.read(), PATIENCE_S) == sent
    await until(lambda: protocol.happened[-1:] == ["lost"])


async def test_a_protocol_that_does_not_read_gets_nothing_until_it_does(running: Running):
    reader, writer = await running.connect()
    protocol = await running.protocol()
    protocol.transport.pause_reading()
    writer.write(b"a" * 40_000)
    await writer.drain()
    await asyncio.sleep(0.1)
    assert not protocol.received
    protocol.transport.resume_reading()
    assert await asyncio.wait_for(reader.readexactly(40_000), PATIENCE_S) == b"a" * 40_000
    writer.close()


async def test_a_protocol_that_fails_loses_its_connection_and_no_other(running: Running):
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, what: told.append(what))
    reader, writer = await running.connect()
    failing = await running.protocol()
    other, other_writer = await running.connect()
    writer.write(b"fail")
    assert await asyncio.wait_for(reader.read(), PATIENCE_S) == b""
    assert [str(each["exception"]) for each in told] == ["a protocol that fails"]
    assert failing.happened == ["lost"]
    other_writer.write(b"well")
    assert await asyncio.wait_for(other.readexactly(4), PATIENCE_S) == b"well"
    other_writer.close()
    writer.close()


async def test_clients_that_say_nothing_keep_nobody_out(running: Running):
    """Three times as many as handshakes may be under way: the oldest end, and one more is made."""
    most = tls_server.MOST_HANDSHAKES
    silent = [socket.create_connection(running.address) for _ in range(3 * most)]
    await until(lambda: len(running.server._under_way) == most)
    reader, writer = await running.connect()
    writer.write(b"hello")
    assert await asyncio.wait_for(reader.readexactly(5), PATIENCE_S) == b"hello"
    assert len(running.handshakes) <= most
    writer.close()
    for each in silent:
        each.close()


async def test_many_handshakes_of_one_address_end_none_of_another(running: Running):
    """Also the one that was begun before all of them."""
    most = tls_server.MOST_HANDSHAKES
    patient = socket.create_connection(running.address, source_address=("127.0.0.2", 0))
    await until(lambda: len(running.server._under_way) == 1)
    silent = [socket.create_connection(running.address) for _ in range(2 * most)]
    await until(lambda: len(running.server._under_way) == most)
    assert running.server._under_way.end_one("127.0.0.2")
    for each in (patient, *silent):
        each.close()


async def test_a_handshake_that_takes_too_long_ends(
    running: Running, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(handshaking, "PATIENCE_S", 0.05)
    reader, writer = await asyncio.open_connection(*running.address)
    writer.write(b"\x16\x03\x01\x02\x00\x01")
    assert await asyncio.wait_for(reader.read(), PATIENCE_S) == b""
    assert running.handshakes.failed == 1
    assert not running.protocols
    writer.close()


async def test_http_without_tls_is_no_handshake(running: Running):
    reader, writer = await asyncio.open_connection(*running.address)
    writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    with suppress(ConnectionResetError):
        assert b"HTTP" not in await asyncio.wait_for(reader.read(), PATIENCE_S)
    assert running.handshakes.failed == 1
    assert not running.protocols
    writer.close()


async def test_new_files_are_used_by_new_connections(running: Running):
    def serial(writer: asyncio.StreamWriter) -> Any:
        return writer.get_extra_info("peercert")["serialNumber"]

    _, before = await running.connect()
    running.certificates.renew()
    running.tls.look()
    _, after = await running.connect()
    assert serial(before) != serial(after)
    before.close()
    after.close()


async def test_a_server_that_closes_ends_its_handshakes(running: Running):
    silent = socket.create_connection(running.address)
    await until(lambda: len(running.server._under_way) == 1)
    running.server.close()
    running.server.close()
    await running.server.wait_closed()
    assert len(running.handshakes) == 0
    silent.settimeout(5)
    assert silent.recv(1) == b""
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(running.address)
    silent.close()
