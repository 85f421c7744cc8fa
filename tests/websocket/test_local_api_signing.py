"""$connect behind AWS_IAM: signed by botocore, checked here."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from support.local_api import Door, a_door, ask, hear
from websockets.exceptions import InvalidStatus

from samsa_websocket.pushes.connections import ConnectionsApi, Gone
from samsa_websocket.shim.signing import HandshakeSigner

FUNCTIONS = Path(__file__).with_name("functions")
KEYS = {"gregor": "metamorphosis"}
QUERY = "?v=1&listen=127.0.0.1%3A9092&note=a%20b%2Fc"


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[Door]:
    async with a_door(tmp_path, FUNCTIONS, keys=KEYS) as door:
        yield door


def signed_headers(
    door: Door, key: str = "gregor", secret: str = "metamorphosis", service: str = "execute-api"
) -> dict[str, str]:
    request = AWSRequest("GET", f"{door.endpoint}{QUERY}")
    SigV4Auth(Credentials(key, secret), service, "eu-central-1").add_auth(request)
    return dict(request.headers)


def signed_query(door: Door, expires: int = 60) -> str:
    request = AWSRequest("GET", f"{door.endpoint}{QUERY}")
    credentials = Credentials("gregor", "metamorphosis", "a/session+token==")
    SigV4QueryAuth(credentials, "execute-api", "eu-central-1", expires).add_auth(request)
    return f"?{urlsplit(request.prepare().url).query}"


async def test_a_handshake_signed_in_its_headers_is_let_in(door: Door):
    async with door.client(QUERY, additional_headers=signed_headers(door)) as client:
        assert await ask(client, "echo in") == "in"
    [event] = door.events("CONNECT")
    assert event["requestContext"]["identity"]["accessKey"] == "gregor"


async def test_a_handshake_signed_in_its_query_is_let_in(door: Door):
    async with door.client(signed_query(door)) as client:
        assert await ask(client, "echo in") == "in"


async def refused(door: Door, query: str, headers: dict[str, str]) -> bytes:
    with pytest.raises(InvalidStatus) as refusal:
        await door.client(query, additional_headers=headers)
    assert refusal.value.response.status_code == 403
    assert door.events("CONNECT") == []
    return refusal.value.response.body or b""


async def test_without_a_signature_the_door_stays_shut(door: Door):
    assert b"Missing Authentication Token" in await refused(door, QUERY, {})


@pytest.mark.parametrize(
    "wrong", [{"key": "grete"}, {"secret": "castle"}, {"service": "s3"}], ids=str
)
async def test_a_wrong_signature_is_refused(door: Door, wrong: dict[str, str]):
    await refused(door, QUERY, signed_headers(door, **wrong))


async def test_a_signature_is_for_one_query(door: Door):
    await refused(door, QUERY.replace("9092", "9093"), signed_headers(door))


async def test_an_old_signature_is_refused(door: Door, monkeypatch: pytest.MonkeyPatch):
    headers = signed_headers(door)
    then = datetime.now(UTC) - timedelta(minutes=6)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda *_: then, raising=False)
    monkeypatch.setattr("botocore.compat.get_current_datetime", lambda *_: then, raising=False)
    old = signed_headers(door)
    assert old["X-Amz-Date"] < headers["X-Amz-Date"]
    assert b"expired" in await refused(door, QUERY, old)


@pytest.fixture
def as_gregor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "gregor")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "metamorphosis")


@pytest.mark.usefixtures("as_gregor")
async def test_the_shims_own_signature_is_let_in(door: Door):
    headers = await HandshakeSigner(None, "eu-central-1").headers(f"{door.url}{QUERY}")
    async with door.client(QUERY, additional_headers=headers) as client:
        assert await ask(client, "echo in") == "in"


@pytest.mark.usefixtures("as_gregor")
async def test_what_functions_push_is_signed_well(door: Door):
    async with door.client(QUERY, additional_headers=signed_headers(door)) as client:
        [event] = door.events("CONNECT")
        connections = ConnectionsApi(door.endpoint, "eu-central-1")
        await connections.post(event["requestContext"]["connectionId"], "wake")
        assert await hear(client) == "wake"
        with pytest.raises(Gone):
            await connections.post("nobody=", "wake")
        await connections.close()
