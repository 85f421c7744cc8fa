"""Our signatures are botocore's, for whatever is signed."""

from unittest.mock import patch
from urllib.parse import urlsplit

import pytest
from botocore import auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from samsa.aws.sigv4 import Keys, Signer

WHEN = "20260131T235959Z"
TOKENS = st.sampled_from(["", "a+token/with=signs" * 9])
WORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=30)


@pytest.fixture(autouse=True, scope="module")
def botocore_knows_the_time():
    from datetime import UTC, datetime

    now = datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC)
    with patch.object(auth, "get_current_datetime", lambda: now):
        yield


@given(body=st.binary(max_size=200), token=TOKENS, secret=WORDS, name=WORDS)
def test_headers_are_signed_as_botocore_signs_them(body, token, secret, name):
    """The path has what API Gateway's has: a character to encode, and one that is encoded."""
    path = "/dev/@connections/" + name.encode().hex() + "%3D"
    headers = {"host": "abc.execute-api.eu-central-1.amazonaws.com", "x-amz-target": "A.B"}
    request = AWSRequest("POST", f"https://{headers['host']}{path}", data=body, headers=headers)
    theirs = auth.SigV4Auth(
        Credentials("key", secret, token or None), "execute-api", "eu-central-1"
    )
    theirs.add_auth(request)
    signer = Signer("execute-api", "eu-central-1")
    ours = signer.headers(Keys("key", secret, token), WHEN, "POST", path, headers, body)
    assert ours["authorization"] == request.headers["Authorization"]
    assert ours.get("x-amz-security-token", "") == token


@given(token=TOKENS, secret=WORDS, method=st.sampled_from(["GET", "PUT"]), typed=st.booleans())
def test_a_presigned_url_is_the_one_that_botocore_makes(token, secret, method, typed):
    host, path = "samsa.s3.eu-central-1.amazonaws.com", "/log/a%20b/0/00000000000000000007"
    headers = {"content-type": "application/octet-stream"} if typed else {}
    request = AWSRequest(method, f"https://{host}{path}", headers=headers)
    theirs = auth.S3SigV4QueryAuth(
        Credentials("key", secret, token or None), "s3", "eu-central-1", 900
    )
    theirs.add_auth(request)
    signer = Signer("s3", "eu-central-1")
    signed = {**headers, "host": host}
    ours = signer.query(Keys("key", secret, token), WHEN, method, path, signed, 900)
    assert _parameters(ours) == _parameters(urlsplit(request.url).query)


def _parameters(query: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in query.split("&"))


def test_the_key_is_another_on_another_day():
    signer, keys = Signer("dynamodb", "eu-central-1"), Keys("key", "secret")
    days = ["20260131T235959Z", "20260201T000000Z", "20260131T235959Z"]
    signed = [signer.headers(keys, day, "POST", "/", {"host": "h"}, b"") for day in days]
    assert signed[0] == signed[2]
    fresh = Signer("dynamodb", "eu-central-1").headers(
        keys, days[1], "POST", "/", {"host": "h"}, b""
    )
    assert signed[1] == fresh


@given(token=TOKENS, start=st.integers(0, 10**12), length=st.integers(1, 10**9))
def test_a_range_is_among_what_a_presigned_url_signs(token: str, start: int, length: int):
    host, path = "samsa.s3.eu-central-1.amazonaws.com", "/log/windows/1"
    asked = {"range": f"bytes={start}-{start + length - 1}"}
    request = AWSRequest("GET", f"https://{host}{path}", headers=asked)
    keys = Credentials("key", "secret", token or None)
    auth.S3SigV4QueryAuth(keys, "s3", "eu-central-1", 900).add_auth(request)
    signer, signed = Signer("s3", "eu-central-1"), {**asked, "host": host}
    ours = signer.query(Keys("key", "secret", token), WHEN, "GET", path, signed, 900)
    theirs = _parameters(urlsplit(request.url).query)
    assert _parameters(ours) == theirs
    assert theirs["X-Amz-SignedHeaders"] == "host%3Brange"
