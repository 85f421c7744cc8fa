"""$connect behind AWS_IAM: signed by botocore, checked here."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from support.local_api import RunningGateway, a_local_gateway, ask, hear
from websockets.exceptions import InvalidStatus

from samsa_websocket.pushes.connections import ConnectionsApi, Gone
from samsa_websocket.shim.signing import HandshakeSigner

FUNCTIONS = Path(__file__).with_name("functions")
KEYS = {"gregor": "metamorphosis"}
QUERY = "?v=1&listen=127.0.0.1%3A9092&note=a%20b%2Fc"


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[RunningGateway]:
    async with a_local_gateway(tmp_path, FUNCTIONS, keys=KEYS) as gateway:
        yield gateway


def signed_headers(
    gateway: RunningGateway,
    key: str = "gregor",
    secret: str = "metamorphosis",
    service: str = "execute-api",
) -> dict[str, str]:
    request = AWSRequest("GET", f"{gateway.endpoint}{QUERY}")
    SigV4Auth(Credentials(key, secret), service, "eu-central-1").add_auth(request)
    return dict(request.headers)


def signed_query(gateway: RunningGateway, expires: int = 60) -> str:
    request = AWSRequest("GET", f"{gateway.endpoint}{QUERY}")
    credentials = Credentials("gregor", "metamorphosis", "a/session+token==")
    SigV4QueryAuth(credentials, "execute-api", "eu-central-1", expires).add_auth(request)
    return f"?{urlsplit(request.prepare().url).query}"


async def test_a_handshake_signed_in_its_headers_is_let_in(gateway: RunningGateway):
    async with gateway.client(QUERY, additional_headers=signed_headers(gateway)) as client:
        assert await ask(client, "echo in") == "in"
    [event] = gateway.events("CONNECT")
    assert event["requestContext"]["identity"]["accessKey"] == "gregor"


async def test_a_handshake_signed_in_its_query_is_let_in(gateway: RunningGateway):
    async with gateway.client(signed_query(gateway)) as client:
        assert await ask(client, "echo in") == "in"


async def refused(gateway: RunningGateway, query: str, headers: dict[str, str]) -> bytes:
    with pytest.raises(InvalidStatus) as refusal:
        await gateway.client(query, additional_headers=headers)
    assert refusal.value.response.status_code == 403
    assert gateway.events("CONNECT") == []
    return refusal.value.response.body or b""


async def test_without_a_signature_no_websocket_is_opened(gateway: RunningGateway):
    assert b"Missing Authentication Token" in await refused(gateway, QUERY, {})


@pytest.mark.parametrize(
    "wrong", [{"key": "grete"}, {"secret": "castle"}, {"service": "s3"}], ids=str
)
async def test_a_wrong_signature_is_refused(gateway: RunningGateway, wrong: dict[str, str]):
    await refused(gateway, QUERY, signed_headers(gateway, **wrong))


async def test_a_signature_is_for_one_query(gateway: RunningGateway):
    await refused(gateway, QUERY.replace("9092", "9093"), signed_headers(gateway))


async def test_an_old_signature_is_refused(
    gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch
):
    headers = signed_headers(gateway)
    then = datetime.now(UTC) - timedelta(minutes=6)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda *_: then, raising=False)
    monkeypatch.setattr("botocore.compat.get_current_datetime", lambda *_: then, raising=False)
    old = signed_headers(gateway)
    assert old["X-Amz-Date"] < headers["X-Amz-Date"]
    assert b"expired" in await refused(gateway, QUERY, old)


@pytest.fixture
def as_gregor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "gregor")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "metamorphosis")


@pytest.mark.usefixtures("as_gregor")
async def test_the_shims_own_signature_is_let_in(gateway: RunningGateway):
    headers = await HandshakeSigner(None, "eu-central-1").headers(f"{gateway.url}{QUERY}")
    async with gateway.client(QUERY, additional_headers=headers) as client:
        assert await ask(client, "echo in") == "in"


@pytest.mark.usefixtures("as_gregor")
async def test_what_functions_push_is_signed_well(gateway: RunningGateway):
    async with gateway.client(QUERY, additional_headers=signed_headers(gateway)) as client:
        [event] = gateway.events("CONNECT")
        connections = ConnectionsApi(gateway.endpoint, "eu-central-1")
        await connections.post(event["requestContext"]["connectionId"], "wake")
        assert await hear(client) == "wake"
        with pytest.raises(Gone):
            await connections.post("nobody=", "wake")
        await connections.close()
