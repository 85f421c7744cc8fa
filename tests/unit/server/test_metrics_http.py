"""The metrics port under clients that do not behave."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from samsa.http_api.sessions import Session, Unauthorized
from samsa.security.access import Limited
from samsa.security.acls import Acl
from samsa.security.authorizer import Authorizer
from samsa.security.kinds import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType
from samsa.security.principals import Principal
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


class Login:
    """alice may describe the cluster, bob may not, and others do not come in."""

    def is_needed(self, scope: dict[str, Any]) -> bool:
        return True

    async def session(self, scope: dict[str, Any]) -> Session:
        who = dict(scope["headers"]).get(b"authorization", b"").decode()
        assert scope["client"][0] == "127.0.0.1"
        if who not in ("alice", "bob"):
            raise Unauthorized("who is that?", ["Basic", "Bearer"])
        acl = Acl(
            ResourceType.CLUSTER,
            PatternType.LITERAL,
            CLUSTER_NAME,
            "User:alice",
            "*",
            Operation.DESCRIBE,
            Permission.ALLOW,
        )
        authorizer = Authorizer([acl])
        return Session(Limited(Principal("User", who), "127.0.0.1", lambda: authorizer))


@pytest.mark.parametrize(
    ("who", "status"), [(b"alice", b"200"), (b"bob", b"403"), (b"mallory", b"401")]
)
async def test_who_logs_in_needs_describe_on_the_cluster(who: bytes, status: bytes):
    server = MetricsServer(lambda _: ("text/plain", b"samsa_up 1\n"), cast(Any, Login()))
    port = await server.open("127.0.0.1", 0)
    answer = await ask(port, GET.replace(b"\r\n\r\n", b"\r\nAuthorization: " + who + b"\r\n\r\n"))
    assert answer.split()[1] == status
    assert (b"samsa_up" in answer) == (status == b"200")
    challenges = b"\r\nWWW-Authenticate: Basic\r\nWWW-Authenticate: Bearer\r\n"
    assert (challenges in answer) == (status == b"401")
    await server.close()
