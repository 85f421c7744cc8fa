"""Presigned URLs against S3 servers that check signatures: a real one, and the embedded one."""

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


@pytest.fixture(params=["versity", "embedded"])
def s3(request: pytest.FixtureRequest) -> str:
    endpoint: str = request.getfixturevalue(request.param)
    return endpoint


@pytest.fixture(params=["", "some folder"])
def prefix(request: pytest.FixtureRequest) -> str:
    return f"{request.param}/{uuid4()}".strip("/")


async def test_a_presigned_get_reads_its_range(s3: str, prefix: str):
    objects, presigner = S3Objects(BUCKET, prefix, s3), Presigner(BUCKET, prefix, s3)
    await objects.put_if_absent("log/0", [b"0123456789"])
    assert ask("GET", await presigner.get("log/0", 3, 3), range="bytes=3-5") == (206, b"345")
    assert ask("GET", await presigner.get("log/0", 0, 10), range="bytes=0-9")[1] == b"0123456789"


OTHER_RANGES = {
    "none": {},
    "from the start": {"range": "bytes=0-5"},
    "one byte more": {"range": "bytes=3-6"},
    "less": {"range": "bytes=3-4"},
    "to the end": {"range": "bytes=3-"},
    "the last bytes": {"range": "bytes=-7"},
    "another range beside it": {"range": "bytes=3-5,0-2"},
}


@pytest.mark.parametrize("headers", OTHER_RANGES.values(), ids=OTHER_RANGES.keys())
async def test_a_presigned_get_reads_nothing_but_its_range(s3: str, headers: dict[str, str]):
    """The other bytes of the object may be records of topics that its reader may not read."""
    prefix = str(uuid4())
    objects, presigner = S3Objects(BUCKET, prefix, s3), Presigner(BUCKET, prefix, s3)
    await objects.put_if_absent("log/windows/0", [b"0123456789"])
    url = await presigner.get("log/windows/0", 3, 3)
    status, body = ask("GET", url, **headers)
    assert status == 403
    assert b"SignatureDoesNotMatch" in body or b"AccessDenied" in body
    unsigned = url.replace("host%3Brange", "host")
    assert unsigned != url
    assert ask("GET", unsigned, **headers)[0] == 403


async def test_what_is_put_by_a_presigned_url_is_there(s3: str, prefix: str):
    presigner = Presigner(BUCKET, prefix, s3)
    put = await presigner.put("spill/a=b", 5)
    assert ask("PUT", put.url, b"hello", **put.headers)[0] == 200
    objects = S3Objects(BUCKET, prefix, s3)
    assert bytes(await objects.get("spill/a=b")) == b"hello"


async def test_a_presigned_url_is_good_for_what_was_signed_and_nothing_else(s3: str, prefix: str):
    presigner = Presigner(BUCKET, prefix, s3)
    put = await presigner.put("spill/one", 5)
    assert ask("PUT", put.url, b"hello, world", **put.headers)[0] == 403
    assert ask("PUT", put.url.replace("spill/one", "log/one"), b"hello", **put.headers)[0] == 403
    assert ask("PUT", put.url, b"hello", content_type="text/html")[0] == 403
    assert ask("GET", put.url)[0] == 403


async def test_a_header_beside_the_signed_ones_does_not_widen_the_range_here(s3: str):
    """S3 itself is said to answer with the whole object: so windows are not presigned where there
    are ACLs (`gateway/object_ranges.py`)."""
    prefix = str(uuid4())
    objects, presigner = S3Objects(BUCKET, prefix, s3), Presigner(BUCKET, prefix, s3)
    await objects.put_if_absent("log/0", [b"0123456789"])
    url = await presigner.get("log/0", 3, 3)
    assert ask("GET", url, range="bytes=3-5", if_range='"another"') == (206, b"345")
