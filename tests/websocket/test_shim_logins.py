"""A shim whose clients log in: who is let in, who is not, and what a stranger costs the cluster."""

import asyncio
import logging
import struct
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from support.fake_gateway import FakeGateway
from support.tls import Certificates
from unit.server.sasl_client import Client
from websocket.test_shim_start import refused, running

from samsa.runtime.store_address import BadUrl
from samsa.runtime.tls_context import TlsContext
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.frame import request_frame
from samsa.wire.messages import heartbeat, sasl_authenticate
from samsa.wire.runtime import varint_bytes
from samsa_broker.cli.main import main, parser
from samsa_broker.cli.shim import warnings
from samsa_websocket.shim import logins
from samsa_websocket.shim.listener import Shim
from samsa_websocket.shim.logins import Users, open_users
from samsa_websocket.shim.settings import ShimSettings

PASSWORD = "correct horse"
TOKEN = f"\0alice\0{PASSWORD}".encode()
FREE = {ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE}


class Ledger:
    def __init__(self, folder: Path) -> None:
        self.url = f"sqlite://{folder}/users.db"
        self._password = folder / "password"
        self._password.write_text(PASSWORD)

    def add(self, name: str, mechanism: str = "SCRAM-SHA-256") -> None:
        more = ["--password-file", str(self._password), "--mechanism", mechanism]
        assert main(["users", "add", name, "--ledger", self.url, *more]) == 0

    def delete(self, name: str) -> None:
        assert main(["users", "delete", name, "--ledger", self.url]) == 0


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path)
    made.add("alice")
    return made


@pytest.fixture
async def users(ledger: Ledger) -> AsyncIterator[Users]:
    found = await open_users(ledger.url)
    yield found
    await found.close()


@pytest.fixture
async def shim(gateway: FakeGateway, users: Users) -> AsyncIterator[Shim]:
    found = Shim(ShimSettings(gateway.url, sign=False), users)
    yield found
    await found.close()


@pytest.fixture
async def address(shim: Shim) -> tuple[str, int]:
    return await shim.listen("127.0.0.1", 0)


async def test_a_client_that_has_logged_in_reaches_the_cluster(
    address: tuple[str, int], gateway: FakeGateway
):
    client = await Client.at(address)
    assert (await client.versions()).error_code == 0
    assert (await client.scram()).error_code == 0
    assert gateway.targets == []
    assert (await client.beat()).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert len(gateway.targets) == 1


async def test_a_password_in_plain_is_checked_against_the_same_users(address: tuple[str, int]):
    client = await Client.at(address)
    assert (await client.log_in()).error_code == 0
    assert (await client.beat()).error_code == ErrorCode.UNKNOWN_MEMBER_ID


async def test_tokens_may_come_without_a_request_around_them(address: tuple[str, int]):
    client = await Client.at(address)
    assert not (await client.handshake("PLAIN", 0)).error_code
    assert await client.raw(TOKEN) == b""
    assert (await client.beat()).error_code == ErrorCode.UNKNOWN_MEMBER_ID


async def test_a_version_of_apiversions_that_does_not_exist_is_answered_as_by_a_broker(
    address: tuple[str, int],
):
    client = await Client.at(address)
    frame = struct.pack(">hhih", ApiKey.API_VERSIONS, 99, 7, -1)
    client.writer.write(struct.pack(">i", len(frame)) + frame)
    answer = await client.frame()
    row = APIS[ApiKey.API_VERSIONS].response.decode(0, memoryview(answer)[4:])
    assert row.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert {each.api_key for each in row.api_keys} == set(APIS)


async def test_what_a_cluster_and_a_shim_list_before_the_login_is_the_same(
    address: tuple[str, int],
):
    client = await Client.at(address)
    before = await client.versions()
    await client.scram()
    assert await client.versions() == before


@pytest.mark.parametrize("key", sorted(set(APIS) - FREE))
async def test_no_other_api_reaches_the_cluster_before_the_login(
    address: tuple[str, int], gateway: FakeGateway, key: ApiKey
):
    for begins in (False, True):
        client = await Client.at(address)
        if begins:
            await client.handshake("SCRAM-SHA-256")
        frame = struct.pack(">hhih", key, APIS[key].versions[0], 7, -1) + bytes(64)
        client.writer.write(struct.pack(">i", len(frame)) + frame)
        assert await client.is_closed()
    assert gateway.targets == []


HOSTILE = {
    "nothing": struct.pack(">i", 0),
    "less than nothing": struct.pack(">i", -1),
    "a gigabyte": struct.pack(">i", 1 << 30) + b"x" * 100,
    "an unknown API": struct.pack(">ihhih", 10, 999, 0, 1, -1),
    "half a header": struct.pack(">i", 3) + b"\0\x11\0",
    "a handshake that breaks off": struct.pack(">ihhihh", 12, 17, 1, 1, -1, 500),
    "TLS, where there is none": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(60),
    "HTTP": b"GET / HTTP/1.1\r\n\r\n",
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE.keys())
async def test_garbage_before_the_login_ends_the_connection_and_no_other(
    address: tuple[str, int], gateway: FakeGateway, data: bytes, caplog: pytest.LogCaptureFixture
):
    beside = await Client.at(address)
    client = await Client.at(address)
    client.writer.write(data)
    assert await client.is_closed()
    assert (await beside.scram()).error_code == 0
    assert gateway.targets == []
    assert not [each for each in caplog.records if each.exc_info]


async def test_a_wrong_password_and_an_unknown_user_are_told_the_same_and_closed(
    address: tuple[str, int], gateway: FakeGateway
):
    told = []
    for user, password in (("alice", "wrong"), ("nobody", PASSWORD)):
        client = await Client.at(address)
        answer = await client.scram(password, user)
        told.append((answer.error_code, answer.error_message))
        assert await client.is_closed()
    assert told[0] == told[1]
    assert told[0][0] == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert gateway.targets == []


async def test_a_request_of_many_elements_before_the_login_is_refused_unread(
    address: tuple[str, int],
):
    client = await Client.at(address)
    await client.handshake("PLAIN")
    row = sasl_authenticate.REQUEST(auth_bytes=TOKEN)
    body = b"".join(map(bytes, APIS[ApiKey.SASL_AUTHENTICATE].request.encode(2, row)))
    tags = b"".join(varint_bytes(number) + b"\0" for number in range(3_000))
    header = struct.pack(">hhih", ApiKey.SASL_AUTHENTICATE, 2, 2, 1) + b"c\0"
    frame = header + body[:-1] + varint_bytes(3_000) + tags
    client.writer.write(struct.pack(">i", len(frame)) + frame)
    assert await client.is_closed()


async def test_a_mechanism_that_is_not_offered_is_answered_with_those_that_are(
    address: tuple[str, int],
):
    client = await Client.at(address)
    answer = await client.handshake("GSSAPI")
    assert answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
    assert set(answer.mechanisms) == {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}
    assert await client.is_closed()


async def test_who_says_nothing_is_let_go(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(logins, "LOGIN_WITHIN_S", 0.05)
    client = await Client.at(address)
    assert await client.is_closed()


async def test_requests_that_are_sent_with_the_last_token_are_served_after_it(
    address: tuple[str, int],
):
    client = await Client.at(address)
    assert not (await client.handshake("PLAIN", 0)).error_code
    beat = request_frame(APIS[ApiKey.HEARTBEAT], 3, 9, "c", heartbeat.REQUEST(group_id="g"))
    client.writer.write(struct.pack(">i", len(TOKEN)) + TOKEN + beat)
    assert await client.frame() == b""
    assert struct.unpack_from(">i", await client.frame()) == (9,)


async def test_users_are_those_of_now(address: tuple[str, int], ledger: Ledger, users: Users):
    await asyncio.to_thread(ledger.add, "bob", "SCRAM-SHA-256")
    await asyncio.to_thread(ledger.delete, "alice")
    users.view._looked_at = None  # as a second later
    assert (await (await Client.at(address)).scram(user="bob")).error_code == 0
    refusal = await (await Client.at(address)).scram(user="alice")
    assert refusal.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED


async def test_logins_are_lines_of_the_audit_and_have_no_password(
    address: tuple[str, int], caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    await (await Client.at(address)).log_in()
    client = await Client.at(address)
    assert not (await client.handshake("PLAIN")).error_code
    assert (await client.token(b"\0alice\0not her password")).error_code
    assert await client.is_closed()
    lines = [record.getMessage() for record in caplog.records if record.name == "samsa.audit"]
    assert lines == ["login", "login refused"]
    whole = repr([record.__dict__ for record in caplog.records])
    assert PASSWORD not in whole
    assert "not her password" not in whole


async def test_a_ledger_that_is_not_there_is_not_made(tmp_path: Path):
    with pytest.raises(BadUrl, match="samsa users add"):
        await open_users(f"sqlite://{tmp_path}/nowhere.db")
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240


# TLS


async def test_new_connections_use_new_certificates(
    shim: Shim, tmp_path: Path, gateway: FakeGateway
):
    certificates = Certificates(tmp_path)
    files = TlsContext(certificates.files())
    host, port = await shim.listen("127.0.0.1", 0, files.for_asyncio())
    seen = []
    for _ in range(2):
        context = certificates.client_context()
        reader, writer = await asyncio.open_connection(host, port, ssl=context)
        seen.append(writer.get_extra_info("ssl_object").getpeercert(binary_form=True))
        assert (await Client(reader, writer).scram()).error_code == 0
        writer.close()
        certificates.renew()
        files.look()
    assert seen[0] != seen[1]


async def test_a_handshake_that_stalls_holds_nobody_up(shim: Shim, tmp_path: Path):
    certificates = Certificates(tmp_path)
    files = TlsContext(certificates.files())
    host, port = await shim.listen("127.0.0.1", 0, files.for_asyncio())
    stalled = [await asyncio.open_connection(host, port) for _ in range(20)]
    context = certificates.client_context()
    client = Client(*await asyncio.open_connection(host, port, ssl=context))
    assert (await client.scram()).error_code == 0
    for _, writer in stalled:
        writer.close()


# From the shell


def test_a_real_client_logs_in_by_tls(tmp_path: Path, gateway: FakeGateway, ledger: Ledger):
    certificates = Certificates(tmp_path)
    ledger.add("alice", "SCRAM-SHA-512")
    secured = ["--users", ledger.url, "--tls-cert", str(certificates.server)]
    secured += ["--tls-key", str(certificates.server_key)]
    where = ["--url", gateway.url, "--no-sign", "--listen", "127.0.0.1:0"]
    with running(tmp_path, *where, *secured) as (_, [port]):
        for mechanism in ("SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN"):
            admin = AdminClient(
                {
                    "bootstrap.servers": f"127.0.0.1:{port}",
                    "security.protocol": "sasl_ssl",
                    "ssl.ca.location": str(certificates.ca),
                    "sasl.mechanism": mechanism,
                    "sasl.username": "alice",
                    "sasl.password": PASSWORD,
                }
            )
            assert admin.list_topics(timeout=30).brokers


def test_a_shim_that_others_reach_warns_in_one_line(gateway: FakeGateway, ledger: Ledger):
    def told(*more: str) -> list[str]:
        given = parser().parse_args(["shim", "--url", gateway.url, *more])
        return warnings(given, given.listen)

    near, far = ["--listen", "127.0.0.1:9092"], ["--listen", "0.0.0.0:9092"]
    tls = ["--tls-cert", "cert", "--tls-key", "key"]
    assert told(*near) == told(*near, "--users", ledger.url) == []
    assert told(*near, "--listen", "[::1]:9093") == []
    [line] = told(*near, *far)
    assert line.startswith("0.0.0.0:9092 asks no client who it is")
    [line] = told(*far, *tls)
    assert "asks no client who it is" in line
    [line] = told(*far, "--users", ledger.url)
    assert "unencrypted" in line
    assert told(*far, *tls, "--users", ledger.url) == []


def test_what_cannot_be_used_is_told_at_the_start(
    tmp_path: Path, gateway: FakeGateway, ledger: Ledger
):
    where = ["--url", gateway.url, "--no-sign", "--listen", "127.0.0.1:0"]
    assert "samsa users add" in refused(*where, "--users", f"sqlite://{tmp_path}/no.db")
    (tmp_path / "text.db").write_text("no ledger" * 1_000)
    assert "text.db" in refused(*where, "--users", f"sqlite://{tmp_path}/text.db")
    assert "go together" in refused(*where, "--tls-cert", "server.pem")
    none = str(tmp_path / "none.pem")
    assert "none.pem" in refused(*where, "--tls-cert", none, "--tls-key", none)
