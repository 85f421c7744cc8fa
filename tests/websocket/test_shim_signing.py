"""The handshake's signature, computed once more from what arrived, by the book."""

import hashlib
import hmac
from urllib.parse import urlsplit

import pytest
from server.peer import Peer
from server.talk import versions

from samsa_websocket.shim import ClientRefused, dial
from samsa_websocket.shim.signing import region_in

KEY_ID, SECRET, TOKEN = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "session+token/="


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", TOKEN)
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)


def expected(target: str, headers: dict[str, str], region: str) -> str:
    """https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html"""
    lower = {name.lower(): value for name, value in headers.items()}
    authorization = lower["authorization"]
    signed = authorization.partition("SignedHeaders=")[2].partition(",")[0]
    parts = urlsplit(target)
    query = "&".join(sorted(parts.query.split("&")))
    lines = "".join(f"{name}:{lower[name].strip()}\n" for name in signed.split(";"))
    asked = "\n".join(["GET", parts.path, query, lines, signed, hashlib.sha256(b"").hexdigest()])
    when = lower["x-amz-date"]
    scope = f"{when[:8]}/{region}/execute-api/aws4_request"
    digest = hashlib.sha256(asked.encode()).hexdigest()
    key = f"AWS4{SECRET}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(
        key, f"AWS4-HMAC-SHA256\n{when}\n{scope}\n{digest}".encode(), "sha256"
    ).hex()
    credential = f"AWS4-HMAC-SHA256 Credential={KEY_ID}/{scope}"
    return f"{credential}, SignedHeaders={signed}, Signature={signature}"


def test_each_handshake_is_signed_with_the_caller_s_credentials(gateway):
    with dial(gateway.url, region="eu-central-1") as bootstrap:
        host, _, port = bootstrap.rpartition(":")
        with Peer((host, int(port))) as peer:
            assert versions(peer)
    assert len(gateway.headers) == 2
    for target, headers in zip(gateway.targets, gateway.headers, strict=True):
        lower = {name.lower(): value for name, value in headers.items()}
        assert lower["authorization"] == expected(target, headers, "eu-central-1")
        assert lower["x-amz-security-token"] == TOKEN
        signed = lower["authorization"].partition("SignedHeaders=")[2]
        assert signed.startswith("host;x-amz-date;x-amz-security-token,")


def test_a_url_with_a_query_of_its_own_is_signed_as_it_is_sent(gateway):
    with dial(f"{gateway.url}?tenant=a%20b", region="eu-central-1"):
        pass
    lower = {name.lower(): value for name, value in gateway.headers[0].items()}
    assert "tenant=a%20b&" in gateway.targets[0]
    assert lower["authorization"] == expected(
        gateway.targets[0], gateway.headers[0], "eu-central-1"
    )


def test_nothing_is_signed_unless_asked(gateway):
    with dial(gateway.url, sign=False):
        pass
    assert "authorization" not in {name.lower() for name in gateway.headers[0]}


def test_a_region_that_nobody_names_is_asked_for(gateway, monkeypatch):
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    with pytest.raises(ClientRefused, match="--region"):
        dial(gateway.url)


@pytest.mark.parametrize(
    ("url", "region"),
    [
        ("wss://abc.execute-api.eu-central-1.amazonaws.com/prod", "eu-central-1"),
        ("wss://abc.execute-api.cn-north-1.amazonaws.com.cn/prod", "cn-north-1"),
        ("wss://kafka.example.com/prod", None),
        ("ws://127.0.0.1:3001", None),
    ],
)
def test_the_region_is_read_from_the_url(url, region):
    assert region_in(url) == region
