"""Logins: what is served before one, how it goes, how it ends, and what hostile clients try."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

import pytest
from unit.server.sasl_client import LISTENER, PASSWORD, PLAIN_TOKEN, Client, a_server

from samsa.broker.broker import HANDLERS
from samsa.security.sasl import Authenticated
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import heartbeat, sasl_authenticate
from samsa_broker.server import sasl_connection
from samsa_broker.server.connection import Connection
from samsa_broker.server.listener import Server, ServerLimits
from samsa_broker.server.newcomers import Newcomer, Newcomers

BEFORE_LOGIN = {ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE}


class Running:
    def __init__(self, server: Server) -> None:
        self.server = server
        self.address = server.listen("127.0.0.1", 0, LISTENER)
        self.clients: list[Client] = []
        self.seen: list[Any] = []
        """The access that each heartbeat came with."""

    async def client(self) -> Client:
        self.clients.append(await Client.at(self.address))
        return self.clients[-1]

    @property
    def audit(self) -> Any:
        assert self.server.security is not None
        return self.server.security.audit

    @property
    def connection(self) -> Any:
        (connection,) = self.server.connections
        return connection

    async def end(self) -> None:
        for client in self.clients:
            client.writer.close()
        connections = list(self.server.connections)
        for connection in connections:
            connection.abort()
        if connections:
            await asyncio.wait([each.ended for each in connections], timeout=5)
        for acceptor in self.server._acceptors:
            acceptor.close()
        for task in self.server._tasks:
            task.cancel()


Start = Callable[..., Awaitable[Running]]


@pytest.fixture
async def start(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Start]:
    monkeypatch.setattr(sasl_connection, "REFUSAL_DELAY_S", 0.01)
    running: list[Running] = []

    async def beaten(_: Any, context: Any, __: Any) -> Any:
        running[-1].seen.append(context.access)
        return heartbeat.RESPONSE()

    monkeypatch.setitem(HANDLERS, ApiKey.HEARTBEAT, beaten)

    async def begin(*given: Any, **more: Any) -> Running:
        running.append(Running(a_server(*given, **more)))
        return running[-1]

    yield begin
    for each in running:
        await each.end()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def test_requests_after_a_login_are_those_of_its_principal(start: Start):
    running = await start()
    client = await running.client()
    assert (await client.versions()).api_keys
    answer = await client.log_in()
    assert (answer.error_code, answer.session_lifetime_ms) == (0, 0)
    assert (await client.beat()).error_code == 0
    (access,) = running.seen
    assert (str(access.principal), access.host) == ("User:alice", "127.0.0.1")


@pytest.mark.parametrize("version", [0, 1, 2])
async def test_every_version_of_authenticate_carries_scram(start: Start, version: int):
    running = await start()
    client = await running.client()
    await client.handshake("SCRAM-SHA-256")
    from unit.server.sasl_client import scram_final

    bare = b"n=alice,r=abc"
    first = (await client.token(b"n,," + bare, version)).auth_bytes
    last = await client.token(scram_final(bare, bytes(first), PASSWORD), version)
    assert last.error_code == 0
    assert bytes(last.auth_bytes).startswith(b"v=")
    assert await client.beat()


async def test_after_handshake_0_tokens_come_without_a_request_around_them(start: Start):
    running = await start()
    client = await running.client()
    assert not (await client.handshake("PLAIN", version=0)).error_code
    assert await client.raw(PLAIN_TOKEN) == b""
    assert (await client.beat()).error_code == 0


async def test_a_wrong_raw_token_ends_the_connection_without_an_answer(start: Start):
    running = await start()
    client = await running.client()
    await client.handshake("PLAIN", version=0)
    with pytest.raises(asyncio.IncompleteReadError):
        await client.raw(b"\0alice\0wrong")
    assert running.audit.refused_logins == 1


@pytest.mark.parametrize("api", [api for key, api in APIS.items() if key not in BEFORE_LOGIN])
async def test_no_other_api_is_served_before_a_login(start: Start, api: Any, caplog: Any):
    running = await start()
    client = await running.client()
    with caplog.at_level(logging.WARNING):
        client.send(api.key, api.versions[-1], api.request())
        assert await client.is_closed()
    assert running.audit.refused_logins == 1
    assert not running.seen
    assert len(caplog.records) == 1


@pytest.mark.parametrize("key", [ApiKey.HEARTBEAT, ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE])
async def test_nothing_else_is_served_between_handshake_and_token(start: Start, key: ApiKey):
    running = await start()
    client = await running.client()
    await client.handshake("PLAIN")
    client.send(key, APIS[key].versions[-1], APIS[key].request())
    assert await client.is_closed()


@pytest.mark.parametrize("token", [b"\0alice\0wrong", b"\0mallory\0wrong", b"", b"\xff", b"a\0b"])
async def test_a_wrong_password_is_answered_late_and_ends_the_connection(
    start: Start, token: bytes, monkeypatch: pytest.MonkeyPatch
):
    waits: list[float] = []
    sleep = asyncio.sleep

    async def noted(delay: float) -> None:
        waits.append(delay)
        await sleep(0)

    running = await start()
    client = await running.client()
    await client.handshake("PLAIN")
    monkeypatch.setattr(sasl_connection.asyncio, "sleep", noted)
    answer = await client.token(token)
    monkeypatch.setattr(sasl_connection.asyncio, "sleep", sleep)
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert await client.is_closed()
    assert sasl_connection.REFUSAL_DELAY_S in waits
    assert running.audit.refused_logins == 1


async def test_a_client_learns_the_same_from_a_wrong_password_and_an_unknown_user(start: Start):
    running = await start()
    answers = [await (await running.client()).scram("wrong", who) for who in ("alice", "eve")]
    assert answers[0] == answers[1]
    assert answers[0].error_code == ErrorCode.SASL_AUTHENTICATION_FAILED


async def test_an_unknown_mechanism_is_answered_with_those_that_there_are(start: Start):
    running = await start(("SCRAM-SHA-512",))
    client = await running.client()
    answer = await client.handshake("PLAIN")
    assert answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
    assert list(answer.mechanisms) == ["SCRAM-SHA-512"]
    assert await client.is_closed()


async def test_no_password_is_ever_logged(start: Start, caplog: pytest.LogCaptureFixture):
    running = await start()
    with caplog.at_level(logging.DEBUG):
        await (await running.client()).log_in()
        for token in (b"\0alice\0hunter2", b"\0hunter2", b"\0\0hunter2"):
            client = await running.client()
            await client.handshake("PLAIN")
            await client.token(token)
        await (await running.client()).scram("hunter2")
    told = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    assert "login refused" in told
    assert "hunter2" not in told
    assert PASSWORD not in told


async def test_a_large_frame_before_the_login_is_refused_and_after_it_taken(start: Start):
    running = await start()
    hostile = await running.client()
    hostile.writer.write((600_000).to_bytes(4, "big"))
    assert await hostile.is_closed()
    client = await running.client()
    await client.log_in()
    row = sasl_authenticate.REQUEST(auth_bytes=bytes(600_000))
    answer = await client.ask(ApiKey.SASL_AUTHENTICATE, 2, row)
    assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE


async def test_a_login_that_takes_too_long_is_ended(start: Start, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sasl_connection, "LOGIN_WITHIN_S", 0.05)
    running = await start()
    client = await running.client()
    assert await client.is_closed()
    assert running.audit.refused_logins == 1


async def test_a_second_login_is_refused_where_logins_do_not_end(start: Start):
    running = await start()
    client = await running.client()
    await client.log_in()
    assert (await client.handshake("PLAIN")).error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert (await client.beat()).error_code == 0


async def test_a_client_logs_in_again_before_its_login_ends(start: Start):
    running = await start(reauthenticate_ms=60_000)
    client = await running.client()
    assert (await client.log_in()).session_lifetime_ms == 60_000
    assert (await client.log_in()).session_lifetime_ms == 60_000
    assert (await client.beat()).error_code == 0
    assert running.audit.logins == 2


async def test_no_produce_is_served_by_a_template_between_handshake_and_token(
    start: Start, monkeypatch: pytest.MonkeyPatch
):
    running = await start(reauthenticate_ms=60_000)
    client = await running.client()
    await client.log_in()
    await client.handshake("PLAIN")
    served: list[memoryview] = []
    monkeypatch.setattr(
        Connection, "_handle_alike", lambda self, frame: served.append(frame) is None
    )
    client.send(ApiKey.HEARTBEAT, 3, heartbeat.REQUEST(group_id="g"))
    assert await client.is_closed()
    assert served == []


async def test_a_login_that_has_ended_serves_nothing_but_another_one(start: Start):
    running = await start(reauthenticate_ms=60_000)
    client, late = await running.client(), await running.client()
    for each in (client, late):
        await each.log_in()
    for connection in running.server.connections:
        connection._lock()  # as the timer does
    assert (await client.log_in()).error_code == 0
    assert (await client.beat()).error_code == 0
    late.send(ApiKey.HEARTBEAT, 3, heartbeat.REQUEST())
    assert await late.is_closed()
    assert len(running.seen) == 1


async def test_the_end_of_a_login_comes_by_itself(start: Start):
    running = await start(reauthenticate_ms=20)
    client = await running.client()
    await client.log_in()
    await until(lambda: running.connection._is_locked)


async def test_a_token_that_ends_sooner_ends_the_login(start: Start):
    running = await start(reauthenticate_ms=60_000)
    client = await running.client()
    await client.log_in()
    now_ms = running.server.security.now_ms()  # type: ignore[union-attr]
    result = Authenticated(running.connection._principal, b"", now_ms + 5_000)
    running.connection._under_way = sasl_connection.LoginUnderWay("PLAIN", None, False)  # type: ignore[arg-type]
    assert running.connection._logged_in(result) == 5_000


async def test_nobody_becomes_another_principal_by_logging_in_again(start: Start):
    running = await start(reauthenticate_ms=60_000)
    client = await running.client()
    await client.log_in("alice")
    answer = await client.log_in("bob")
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert "Cannot change principals" in answer.error_message
    assert await client.is_closed()


async def test_nobody_changes_the_mechanism_by_logging_in_again(start: Start):
    running = await start(reauthenticate_ms=60_000)
    client = await running.client()
    await client.log_in()
    await client.handshake("SCRAM-SHA-256")
    answer = await client.token(b"n,,n=alice,r=abc")
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert await client.is_closed()


async def test_requests_that_are_sent_with_the_last_token_are_served_after_it(start: Start):
    running = await start()
    client = await running.client()
    await client.handshake("PLAIN")
    client.send(ApiKey.SASL_AUTHENTICATE, 2, sasl_authenticate.REQUEST(auth_bytes=PLAIN_TOKEN))
    client.send(ApiKey.HEARTBEAT, 3, heartbeat.REQUEST(group_id="g"))
    await client.frame()
    await client.frame()
    assert [str(access.principal) for access in running.seen] == ["User:alice"]


async def test_a_flood_of_wrong_logins_holds_up_nobody(start: Start):
    """Each in its own connection, all at once, while another client logs in and goes on."""
    running = await start()

    async def guess(number: int) -> int:
        client = await running.client()
        await client.handshake("PLAIN")
        answer = await client.token(f"\0alice\0guess{number}".encode())
        return int(answer.error_code)

    good = await running.client()
    await good.scram()
    guesses = asyncio.gather(*(guess(number) for number in range(60)))
    beats = 0
    while not guesses.done():
        assert (await good.beat()).error_code == 0
        beats += 1
        late = await running.client()
        assert (await late.scram()).error_code == 0
    assert set(await guesses) == {ErrorCode.SASL_AUTHENTICATION_FAILED}
    assert beats > 2
    assert running.audit.refused_logins == 60


# At the limit of connections


@pytest.mark.parametrize("limit", ["max_connections", "max_connections_per_address"])
async def test_at_the_limit_a_silent_client_makes_way_and_one_that_has_logged_in_stays(
    start: Start, limit: str
):
    running = await start()
    running.server.limits = ServerLimits(**{limit: 3})
    inside = await running.client()
    await inside.log_in()
    silent = [await running.client() for _ in range(2)]
    for number in range(2):
        newcomer = await running.client()
        assert (await newcomer.log_in()).error_code == 0
        assert await silent[number].reader.read() == b""
    with pytest.raises((OSError, asyncio.IncompleteReadError)):
        await (await running.client()).versions()
    assert running.server.stats.refused == 1
    assert (await inside.beat()).error_code == 0
    assert len(running.server.connections) == 3


async def test_of_newcomers_the_oldest_of_the_address_with_most_makes_way():
    ended: list[str] = []
    newcomers = Newcomers()
    for key in ("a1", "b1", "b2", "c1", "b3", "a2"):
        newcomers.add(key, Newcomer(key[0], lambda: False, partial(ended.append, key)))
    newcomers.add("c2", Newcomer("c", lambda: True, partial(ended.append, "c2")))
    newcomers.drop("b1", "b")
    for host in (None, None, "c", "c"):
        newcomers.end_one(host)
    await asyncio.sleep(0)
    assert ended == ["a1", "b2", "c1"]
