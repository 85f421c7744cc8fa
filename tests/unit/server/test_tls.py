"""TLS connections: the same requests as without, hostile handshakes, and new certificates."""

import asyncio
import os
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest
from support.tls import Certificates
from unit.server.sasl_client import Users

from samsa.broker.broker import HANDLERS, Broker
from samsa.broker.nodes import FurtherListener
from samsa.ports import FileRange
from samsa.runtime.audit import Audit
from samsa.runtime.tls_context import BadTlsFiles, ClientAuth, TlsContext
from samsa.security.ssl_principal import PrincipalMapping
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import request_frame
from samsa.wire.messages import heartbeat, leave_group, sasl_authenticate
from samsa_broker.server import handshakes
from samsa_broker.server.buffer import SMALL
from samsa_broker.server.connection import Connection
from samsa_broker.server.listener import MADE_WAY, Server, ServerLimits
from samsa_broker.server.listeners import Kind, Listener
from samsa_broker.server.security import Security
from samsa_broker.server.tls_socket import CHUNK, JOINED, TlsSender

BEAT = request_frame(APIS[ApiKey.HEARTBEAT], 3, 3, "c", heartbeat.REQUEST(group_id="g"))
BEATEN = 14
"""The size of its answer."""
LEAVE = request_frame(APIS[ApiKey.LEAVE_GROUP], 3, 1, "c", leave_group.REQUEST(group_id="g"))


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


class Running:
    """A server with one TLS listener, whose handlers answer nothing of interest."""

    def __init__(self, certificates: Certificates, auth: ClientAuth, limits: ServerLimits) -> None:
        broker = cast(Any, type("Nothing", (), {"throttling": None})())
        self.server = Server(cast(Broker, broker), limits)
        self.certificates = certificates
        self.tls = TlsContext(certificates.files(auth))
        self.listener = Listener(Kind.TLS, tls=self.tls)
        self.address = ("", 0)
        self.opened: list[socket.socket | asyncio.StreamWriter] = []

    async def connect(
        self, context: ssl.SSLContext | None = None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(
            *self.address, ssl=context or self.certificates.client_context()
        )
        self.opened.append(writer)
        return reader, writer

    def silent(self) -> socket.socket:
        """A client that never says anything."""
        sock = socket.create_connection(self.address)
        self.opened.append(sock)
        return sock

    async def end(self) -> None:
        for one in self.opened:
            one.close()
        self.server.closing = True
        for connection in list(self.server.connections):
            connection.abort()
        if self.server.connections:
            await asyncio.wait([each.ended for each in self.server.connections], timeout=5)
        for acceptor in self.server._acceptors:
            acceptor.close()
        for task in self.server._tasks:
            task.cancel()
        await self.server.handshakes.close()


Start = Callable[..., Awaitable[Running]]


@pytest.fixture
async def start(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Start]:
    async def beaten(*_: Any) -> Any:
        return heartbeat.RESPONSE()

    async def left(*_: Any) -> Any:
        return leave_group.RESPONSE()

    async def echo(request: Any, *_: Any) -> Any:
        return sasl_authenticate.RESPONSE(auth_bytes=bytes(request.auth_bytes))

    monkeypatch.setitem(HANDLERS, ApiKey.HEARTBEAT, beaten)
    monkeypatch.setitem(HANDLERS, ApiKey.LEAVE_GROUP, left)
    monkeypatch.setitem(HANDLERS, ApiKey.SASL_AUTHENTICATE, echo)
    running: list[Running] = []

    async def begin(
        auth: ClientAuth = ClientAuth.NONE, limits: ServerLimits | None = None
    ) -> Running:
        one = Running(certificates, auth, limits or ServerLimits())
        one.address = one.server.listen("127.0.0.1", 0, one.listener)
        running.append(one)
        return one

    yield begin
    for each in running:
        await each.end()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def asked(ends: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> bytes:
    ends[1].write(BEAT)
    return await asyncio.wait_for(ends[0].readexactly(BEATEN), 5)


def echoed(content: bytes) -> bytes:
    row = sasl_authenticate.REQUEST(auth_bytes=content)
    return request_frame(APIS[ApiKey.SASL_AUTHENTICATE], 0, 9, "c", row)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each step of a handshake: whether the event loop made it itself."""
    made: list[bool] = []
    advance, loop_thread = handshakes._advance, threading.get_ident()

    def noted(tls: ssl.SSLSocket) -> handshakes.HandshakeStep:
        made.append(threading.get_ident() == loop_thread)
        return advance(tls)

    monkeypatch.setattr(handshakes, "_advance", noted)
    return made


async def shaken(running: Running, context: ssl.SSLContext, steps: list[bool]) -> list[bool]:
    """The steps of a handshake whose client answers only when the first step is over."""
    loop = asyncio.get_running_loop()
    received, to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(received, to_send, server_hostname="localhost")
    with suppress(ssl.SSLWantReadError):
        client.do_handshake()
    sock = running.silent()
    sock.setblocking(False)
    await loop.sock_sendall(sock, to_send.read())
    await until(lambda: len(steps) == 1)
    while to_send.pending == 0:
        received.write(await loop.sock_recv(sock, 65536))
        with suppress(ssl.SSLWantReadError):
            client.do_handshake()
    await loop.sock_sendall(sock, to_send.read())
    await until(lambda: len(running.server.connections) == 1)
    return steps


async def test_the_last_step_of_a_lone_handshake_is_made_without_a_thread(
    start: Start, steps: list[bool]
) -> None:
    running = await start()
    context = running.certificates.client_context()
    assert await shaken(running, context, steps) == [False, True]


async def test_what_a_client_without_tls_1_3_sends_is_read_in_the_thread(
    start: Start, steps: list[bool]
) -> None:
    running = await start()
    context = running.certificates.client_context()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    assert await shaken(running, context, steps) == [False, False]


@pytest.mark.parametrize("auth", [ClientAuth.WANTED, ClientAuth.REQUIRED])
async def test_certificates_of_clients_are_verified_in_the_thread(
    start: Start, steps: list[bool], auth: ClientAuth
) -> None:
    running = await start(auth)
    context = running.certificates.client_context(shows_certificate=True)
    assert await shaken(running, context, steps) == [False, False]


async def test_while_others_shake_hands_the_thread_makes_every_step(
    start: Start, steps: list[bool]
) -> None:
    running = await start()
    running.silent()
    await until(lambda: len(running.server.handshakes) == 1)
    context = running.certificates.client_context()
    assert await shaken(running, context, steps) == [False, False]


@pytest.mark.parametrize(
    ("sent", "is_finished"),
    [
        (b"\x17\x03\x03\x00\x35" + bytes(0x35), True),
        (b"\x14\x03\x03\x00\x01\x01\x17\x03\x03\x00\x45" + bytes(0x45), True),
        (b"\x17\x03\x03\x00\x35" + bytes(0x35) + b"\x17\x03\x03\x00\x20", True),
        (b"\x17\x03\x03\x00\x35" + bytes(0x35) + b"\x16\x03\x03\x02\x00", False),
        (b"\x17\x03\x03\x01\x00" + bytes(0x100), False),
        (b"\x16\x03\x03\x00\x35" + bytes(0x35), False),
        (b"\x14\x03\x03\x00\x01\x01\x16\x03\x03\x00\x45", False),
        (b"\x14\x03\x03\x00\x01\x01", False),
        (b"\x17\x03", False),
    ],
)
def test_only_a_short_encrypted_record_is_taken_for_the_end_of_a_handshake(
    sent: bytes, is_finished: bool
) -> None:
    ours, theirs = socket.socketpair()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with theirs, context.wrap_socket(ours, True, do_handshake_on_connect=False) as tls:
        theirs.sendall(sent)
        assert handshakes._is_finished_next(tls) is is_finished


async def test_no_login_waits_for_session_tickets(start: Start) -> None:
    running = await start()
    reader, writer = await running.connect()
    writer.write(BEAT)
    await reader.readexactly(BEATEN)
    tls = writer.get_extra_info("ssl_object")
    assert tls.version() == "TLSv1.3"
    assert not tls.session.has_ticket


async def test_requests_are_answered_through_tls(start: Start):
    running = await start()
    client = await running.connect()
    assert await asked(client) == await asked(client)
    (connection,) = running.server.connections
    assert connection.listener.name == "tls"


@pytest.mark.parametrize("size", [1, 16_300, 16_384, 16_500, 100_000, 3_000_000])
async def test_a_request_and_an_answer_of_any_size_pass(start: Start, size: int):
    """Larger than the buffer is at first, than a TLS record, and than a socket takes."""
    running = await start()
    reader, writer = await running.connect()
    content = os.urandom(size)
    writer.write(echoed(content))
    answer = await asyncio.wait_for(reader.readexactly(size + 16), 20)
    assert answer.endswith(content)
    assert await asked((reader, writer))


async def test_many_requests_in_one_record_are_all_answered(start: Start):
    running = await start()
    reader, writer = await running.connect()
    for _ in range(20):
        writer.write(BEAT * 2_000)
    await asyncio.wait_for(reader.readexactly(20 * 2_000 * BEATEN), 20)


async def test_what_openssl_has_decrypted_already_is_not_forgotten(start: Start):
    """The first request fills the buffer to its end, and the second was in the same TLS record: no
    event of the socket says that it is there."""
    running = await start()
    reader, writer = await running.connect()
    await until(lambda: len(running.server.connections) == 1)
    (connection,) = running.server.connections
    content = bytes(SMALL - len(echoed(b"")))
    request = echoed(content)
    writer.write(request[:100])
    await until(lambda: connection._buffer.unread == 100)
    writer.write(request[100:] + BEAT)
    await asyncio.wait_for(reader.readexactly(len(content) + 16 + BEATEN), 5)


async def test_what_a_client_sent_just_before_it_closed_is_handled(
    start: Start, monkeypatch: pytest.MonkeyPatch
):
    handled: list[int] = []

    async def left(*_: Any) -> Any:
        handled.append(1)
        return leave_group.RESPONSE()

    monkeypatch.setitem(HANDLERS, ApiKey.LEAVE_GROUP, left)
    running = await start()
    _, writer = await running.connect()
    await until(lambda: len(running.server.connections) == 1)
    writer.write(LEAVE * 3)
    writer.close()
    await until(lambda: not running.server.connections)
    assert len(handled) == 3


async def test_handshakes_that_stall_hold_nobody_up(start: Start):
    running = await start()
    silent = [running.silent() for _ in range(21)]
    silent[-1].sendall(b"\x16\x03\x01\x02\x00\x01")  # the beginning of a ClientHello
    await until(lambda: len(running.server.handshakes) == 21)
    assert await asked(await running.connect())
    assert len(running.server.handshakes) == 21


async def test_a_handshake_that_stalls_is_ended(start: Start, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(handshakes, "PATIENCE_S", 0.05)
    running = await start()
    silent = running.silent()
    await until(lambda: running.server.handshakes.failed == 1)
    silent.settimeout(5)
    assert await asyncio.to_thread(silent.recv, 1) == b""
    await until(lambda: not running.server.handshakes and not running.server._per_host)


async def test_handshakes_count_as_connections_and_the_oldest_makes_way(start: Start):
    running = await start(limits=ServerLimits(max_connections=3))
    silent = [running.silent() for _ in range(3)]
    await until(lambda: len(running.server.handshakes) == 3)
    client = await running.connect()
    assert await asked(client)
    silent[0].settimeout(5)
    assert await asyncio.to_thread(silent[0].recv, 1) == b""
    silent[1].setblocking(False)
    with pytest.raises(BlockingIOError):
        silent[1].recv(1)
    assert running.server.stats.refused == 0
    assert running.server.stats.let_go[MADE_WAY] == 1


async def test_connections_behind_tls_are_not_ended_for_newcomers(start: Start):
    running = await start(limits=ServerLimits(max_connections=2))
    clients = [await running.connect() for _ in range(2)]
    for client in clients:
        assert await asked(client)
    with pytest.raises(OSError):  # noqa: PT011 - closed or reset
        await running.connect()
    assert running.server.stats.refused == 1
    for client in clients:
        assert await asked(client)


async def test_of_a_flood_of_handshakes_none_is_left_behind(start: Start):
    running = await start(limits=ServerLimits(max_connections=3))
    silent = [running.silent() for _ in range(200)]
    await until(lambda: running.server.stats.let_go[MADE_WAY] == 197)
    await until(lambda: len(running.server.handshakes) == 3)
    assert running.server._per_host == {"127.0.0.1": 3}
    for each in silent:
        each.close()
    await until(lambda: not running.server.handshakes and not running.server._per_host)
    assert not running.server.newcomers._of_host


@pytest.mark.parametrize(
    "bytes_",
    [
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="http"),
        pytest.param(BEAT, id="a Kafka request"),
        pytest.param(b"\x16\x03\x01" + b"\xff" * 600, id="a broken hello"),
        pytest.param(bytes(range(100, 200)), id="noise"),
    ],
)
async def test_what_is_no_handshake_ends_the_connection(start: Start, bytes_: bytes):
    running = await start()
    sock = running.silent()
    sock.settimeout(5)
    sock.sendall(bytes_)
    sock.shutdown(socket.SHUT_WR)
    with suppress(ConnectionError):
        while await asyncio.to_thread(sock.recv, 100):
            pass  # an alert
    await until(lambda: running.server.handshakes.failed == 1)
    assert await asked(await running.connect())


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion")
async def test_older_versions_are_refused(start: Start):
    running = await start()
    context = running.certificates.client_context()
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(ssl.SSLError):
        await running.connect(context)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    assert await asked(await running.connect(context))


async def test_a_client_without_a_certificate_is_refused_where_one_is_required(start: Start):
    running = await start(ClientAuth.REQUIRED)
    with pytest.raises((OSError, asyncio.IncompleteReadError)):
        await asked(await running.connect())
    await until(lambda: running.server.handshakes.failed == 1)
    client = running.certificates.client_context(shows_certificate=True)
    assert await asked(await running.connect(client))


@pytest.mark.parametrize(
    ("rules", "auth", "shows", "expected"),
    [
        ("DEFAULT", ClientAuth.REQUIRED, True, "User:CN=alice,O=Example"),
        ("RULE:^CN=(.*?),.*$/$1/U", ClientAuth.REQUIRED, True, "User:ALICE"),
        ("DEFAULT", ClientAuth.WANTED, True, "User:CN=alice,O=Example"),
        ("DEFAULT", ClientAuth.WANTED, False, "User:ANONYMOUS"),
        ("RULE:^CN=bob$/bob/", ClientAuth.WANTED, False, "User:ANONYMOUS"),
        ("RULE:^CN=bob$/bob/", ClientAuth.REQUIRED, True, None),
    ],
)
async def test_a_client_is_known_by_its_certificate(
    start: Start,
    rules: str,
    auth: ClientAuth,
    shows: bool,
    expected: str | None,
    monkeypatch: pytest.MonkeyPatch,
):
    seen: list[str] = []

    async def beaten(_: Any, context: Any, __: Any) -> Any:
        seen.append(str(context.access.principal))
        return heartbeat.RESPONSE()

    monkeypatch.setitem(HANDLERS, ApiKey.HEARTBEAT, beaten)
    running = await start(auth)
    audit = Audit()
    running.server.security = Security(Users(), audit, lambda: 0, mapping=PrincipalMapping(rules))
    client = running.certificates.client_context(shows_certificate=shows)
    if expected is None:
        with pytest.raises((OSError, asyncio.IncompleteReadError)):
            await asked(await running.connect(client))
        assert audit.refused_logins == 1
        await until(lambda: not running.server._per_host)
    else:
        await asked(await running.connect(client))
        assert seen == [expected]
        assert audit.logins == shows


async def test_new_files_are_used_for_new_connections(start: Start, tmp_path: Path):
    running = await start()
    before = await running.connect()
    running.certificates.renew()
    running.tls.look()
    after = await running.connect()

    def serial(ends: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> str:
        return str(ends[1].get_extra_info("peercert")["serialNumber"])

    assert serial(before) != serial(after)
    assert await asked(before) == await asked(after)


async def test_files_that_do_not_fit_together_change_nothing(start: Start):
    running = await start()
    context = running.tls.current
    before = running.certificates.server.read_bytes()
    running.certificates.server.write_bytes(running.certificates.client.read_bytes())
    running.tls.look()
    running.certificates.server.unlink()
    running.tls.look()
    assert running.tls.current is context
    running.certificates.server.write_bytes(before)
    running.tls.look()
    assert running.tls.current is not context


def test_a_key_with_a_password_is_refused_and_nobody_is_asked(
    certificates: Certificates, tmp_path: Path
):
    from cryptography.hazmat.primitives import serialization as to

    key = to.load_pem_private_key(certificates.server_key.read_bytes(), None)
    secret = to.BestAvailableEncryption(b"secret")
    path = tmp_path / "key"
    path.write_bytes(key.private_bytes(to.Encoding.PEM, to.PrivateFormat.PKCS8, secret))
    with pytest.raises(BadTlsFiles, match="password"):
        TlsContext(certificates.files()._replace(key=str(path)))


# The sender, with a client that reads when the test says so


async def tls_pair(certificates: Certificates) -> tuple[ssl.SSLSocket, ssl.SSLSocket]:
    near, far = socket.socketpair()
    near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    context = TlsContext(certificates.files()).current
    server = asyncio.to_thread(context.wrap_socket, near, server_side=True)
    client = asyncio.to_thread(
        certificates.client_context().wrap_socket, far, server_hostname="localhost"
    )
    ours, theirs = await asyncio.gather(server, client)
    ours.setblocking(False)
    return ours, theirs


async def test_bytes_and_files_arrive_in_order_and_whole(
    certificates: Certificates, tmp_path: Path
):
    """In pieces of every size class, while the client is slow to read."""
    ours, theirs = await tls_pair(certificates)
    stored = os.urandom(3 * CHUNK + 7)
    path = tmp_path / "object"
    path.write_bytes(stored)
    sizes = [1, 5, JOINED - 1, JOINED, JOINED + 1, CHUNK, CHUNK + 1, 3 * CHUNK, 2, 2, 2]
    parts = [os.urandom(size) for size in sizes]
    sender = TlsSender(ours, lambda: None)
    pieces: list[Any] = list(parts)
    pieces.insert(4, FileRange(os.open(path, os.O_RDONLY), 5, len(stored) - 5))
    expected = b"".join([*parts[:4], stored[5:], *parts[4:]])
    first = os.urandom(CHUNK)
    sender.write([first], len(first))
    assert not sender.empty
    sender.write(pieces, len(expected))
    expected = first + expected
    reading = asyncio.create_task(asyncio.to_thread(read_exactly, theirs, len(expected)))
    await asyncio.wait_for(sender.drained(), 10)
    assert await reading == expected
    assert sender.sent == len(expected)
    sender.close()
    theirs.settimeout(5)
    assert await asyncio.to_thread(theirs.recv, 1) == b"", "it did not say that this was the end"
    ours.close()
    theirs.close()


def read_exactly(sock: ssl.SSLSocket, size: int) -> bytes:
    sock.settimeout(10)
    found = b""
    while len(found) < size:
        chunk = sock.recv(size - len(found))
        if not chunk:
            break
        found += chunk
    return found


async def test_a_client_that_has_gone_ends_its_connection(start: Start):
    running = await start()
    _, writer = await running.connect()
    await until(lambda: len(running.server.connections) == 1)
    (connection,) = running.server.connections
    assert isinstance(connection, Connection)
    writer.transport.abort()
    await until(lambda: not running.server.connections)


async def test_the_address_of_a_further_listener_says_how_far_it_is_from_the_first(start: Start):
    running = await start()
    _, first = running.address
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        own = running.server.advertised(sock, running.listener)
        found = running.server.advertised(sock, Listener(Kind.PLAINTEXT, ("public", first + 7)))
    assert not isinstance(own, FurtherListener)
    assert isinstance(found, FurtherListener)
    assert (tuple(found), found.distance) == (("public", first + 7), 7)
