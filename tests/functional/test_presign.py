"""Presigned URLs against a real S3 server, which checks signatures."""

import urllib.error
import urllib.request
from uuid import uuid4

import pytest
from support.stores import BUCKET

from samsa.aws.presign import Presigner
from samsa.aws.s3 import S3Objects


def ask(method: str, url: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, body, named, method=method)
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


@pytest.fixture(params=["", "some folder"])
def prefix(request: pytest.FixtureRequest) -> str:
    return f"{request.param}/{uuid4()}".strip("/")


async def test_a_presigned_get_reads_any_range(versity: str, prefix: str):
    objects, presigner = S3Objects(BUCKET, prefix, versity), Presigner(BUCKET, prefix, versity)
    await objects.put_if_absent("log/0", [b"0123456789"])
    url = await presigner.get("log/0")
    assert ask("GET", url, range="bytes=3-5") == (206, b"345")
    assert ask("GET", url) == (200, b"0123456789")


async def test_what_is_put_by_a_presigned_url_is_there(versity: str, prefix: str):
    presigner = Presigner(BUCKET, prefix, versity)
    put = await presigner.put("spill/a=b", 5)
    assert ask("PUT", put.url, b"hello", **put.headers)[0] == 200
    objects = S3Objects(BUCKET, prefix, versity)
    assert bytes(await objects.get("spill/a=b")) == b"hello"


async def test_a_presigned_url_is_good_for_what_was_signed_and_nothing_else(
    versity: str, prefix: str
):
    presigner = Presigner(BUCKET, prefix, versity)
    put = await presigner.put("spill/one", 5)
    assert ask("PUT", put.url, b"hello, world", **put.headers)[0] == 403
    assert ask("PUT", put.url.replace("spill/one", "log/one"), b"hello", **put.headers)[0] == 403
    assert ask("PUT", put.url, b"hello", content_type="text/html")[0] == 403
    assert ask("GET", put.url)[0] == 403
