"""The shim's signature is the one that botocore makes for the same URL."""

from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import pytest
from botocore import auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from samsa_websocket.shim import ClientRefused, signing
from samsa_websocket.shim.signing import HandshakeSigner

WHEN = datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC)
STAMP = "20260131T235959Z"
REGION = "eu-central-1"
URLS = [
    f"wss://abc.execute-api.{REGION}.amazonaws.com/prod?v=1&host=a%20b&host=a&empty=",
    "ws://127.0.0.1:3001/local?z=1&a=%2F%2B%C3%A4&tilde=~",
    "wss://broker.example.com:443/",
    "ws://broker.example.com:80",
    "wss://[::1]:8443/a%20b/c",
]


@pytest.fixture(autouse=True)
def given_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setattr(signing, "stamp", lambda: STAMP)


def of_botocore(url: str, keys: Credentials) -> dict[str, str]:
    request = AWSRequest("GET", "http" + url.removeprefix("ws"))
    with patch.object(auth, "get_current_datetime", lambda: WHEN):
        auth.SigV4Auth(keys, "execute-api", REGION).add_auth(request)
    return {name.lower(): value for name, value in request.headers.items()}


@pytest.mark.parametrize("token", ["", "a+token/with=signs"])
@pytest.mark.parametrize("url", URLS)
async def test_a_handshake_is_signed_as_botocore_signs_it(
    url: str, token: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AWS_SESSION_TOKEN", token)
    found = await HandshakeSigner(None, REGION).headers(url)
    assert found == of_botocore(url, Credentials("key", "secret", token or None))


async def test_a_profile_comes_before_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    (tmp_path / "credentials").write_text(
        "[work]\naws_access_key_id = other\naws_secret_access_key = hidden\n"
    )
    (tmp_path / "config").write_text(f"[profile work]\nregion = {REGION}\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    found = await HandshakeSigner("work", None).headers(URLS[1])
    assert found == of_botocore(URLS[1], Credentials("other", "hidden"))


async def test_a_profile_that_does_not_exist_is_named():
    with pytest.raises(ClientRefused, match="nowhere"):
        await HandshakeSigner("nowhere", REGION).headers(URLS[0])
