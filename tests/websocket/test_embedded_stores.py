"""The embedded stores on the gateway's port: they open for what was signed, for nothing else."""

import asyncio
import http.client
import json
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from support.local_api import RunningGateway, a_local_gateway

from samsa.aws.presign import EXPIRES_S, Presigner
from samsa_websocket.local_gateway.stores import bucket as bucket_module
from samsa_websocket.local_gateway.stores import dynamodb_api, s3_api
from samsa_websocket.local_gateway.stores.bucket import Bucket
from samsa_websocket.local_gateway.stores.embedded import BUCKET, EmbeddedStores, StoresUnusable

FUNCTIONS = Path(__file__).with_name("functions")
WORDS = b"As Gregor Samsa awoke one morning"
KEY = "log/one"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
async def gateway(tmp_path: Path, data: Path) -> AsyncIterator[RunningGateway]:
    async with a_local_gateway(tmp_path, FUNCTIONS, data=data) as gateway:
        yield gateway


@pytest.fixture
def presigner(gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch) -> Presigner:
    """As an environment of a function has it."""
    return presigner_of(gateway, monkeypatch)


def presigner_of(gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch) -> Presigner:
    assert gateway.api.stores is not None
    keys = gateway.api.stores.issue()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", keys.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", keys.secret_key)
    return Presigner(BUCKET, endpoint=gateway.root, region="us-east-1")


async def ask(
    method: str, url: str, body: bytes | None = None, **headers: str
) -> tuple[int, bytes]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await asyncio.to_thread(_asked, method, url, body, named)


def _asked(method: str, url: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    try:
        query = f"?{parts.query}" if parts.query else ""
        connection.request(method, f"{parts.path}{query}", body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


async def put(presigner: Presigner, key: str, body: bytes) -> tuple[int, bytes]:
    asked = await presigner.put(key, len(body))
    return await ask("PUT", asked.url, body, **asked.headers)


async def test_a_url_opens_what_was_signed(presigner: Presigner, data: Path):
    assert (await put(presigner, KEY, WORDS))[0] == 200
    assert (data / "objects" / KEY).read_bytes() == WORDS
    url = await presigner.get(KEY, 3, 6)
    assert await ask("GET", url, range="bytes=3-8") == (206, b"Gregor")
    assert list((data / "drafts").iterdir()) == []


async def test_a_url_is_refused_for_anything_else(presigner: Presigner, data: Path):
    await put(presigner, KEY, WORDS)
    await put(presigner, "log/two", WORDS)
    read, write = await presigner.get(KEY, 3, 6), (await presigner.put(KEY, 5)).url
    octets = {"content_type": "application/octet-stream"}
    tried = [
        await ask("GET", read),
        await ask("GET", read, range="bytes=0-8"),
        await ask("GET", read, range="bytes=3-"),
        await ask("GET", read.replace(KEY, "log/two"), range="bytes=3-8"),
        await ask(
            "GET", read.replace("X-Amz-Expires=900", "X-Amz-Expires=9000"), range="bytes=3-8"
        ),
        await ask("HEAD", read, range="bytes=3-8"),
        await ask("PUT", read, WORDS, range="bytes=3-8"),
        await ask("DELETE", read, range="bytes=3-8"),
        await ask("GET", read.rpartition("&")[0], range="bytes=3-8"),
        await ask("GET", f"{read}0", range="bytes=3-8"),
        await ask("GET", f"{read}%C3%BC", range="bytes=3-8"),
        await ask("GET", f"{read}&uploads=", range="bytes=3-8"),
        await ask("PUT", write, b"123456", **octets),
        await ask("PUT", write, b"1234", **octets),
        await ask("PUT", write, b"12345"),
        await ask("PUT", write.replace(KEY, "log/three"), b"12345", **octets),
        await ask("PUT", f"{write}&partNumber=1&uploadId={'a' * 32}", b"12345", **octets),
        await ask("POST", write, b"12345", **octets),
        await ask("GET", write),
        await ask("GET", read.partition("?")[0]),
        await ask("GET", f"{read.partition('/log')[0]}?list-type=2"),
    ]
    assert [status for status, _ in tried] == [403] * len(tried)
    assert (data / "objects" / KEY).read_bytes() == WORDS
    assert sorted(path.name for path in (data / "objects" / "log").iterdir()) == ["one", "two"]


@pytest.mark.parametrize("lasts", ["1", "-5", "²", "1" * 5_000, ""])
async def test_a_url_that_has_expired_is_refused(
    presigner: Presigner, monkeypatch: pytest.MonkeyPatch, lasts: str
):
    await put(presigner, KEY, WORDS)
    url = await presigner.get(KEY, 0, 2)
    if lasts == "1":
        now = time.time() + EXPIRES_S + 1
        monkeypatch.setattr(s3_api.time, "time", lambda: now)
    else:
        url = url.replace("X-Amz-Expires=900", f"X-Amz-Expires={lasts.replace('²', '%C2%B2')}")
    status, _ = await ask("GET", url, range="bytes=0-1")
    assert status == 403


async def test_urls_of_an_earlier_start_are_refused(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
):
    async with a_local_gateway(tmp_path, FUNCTIONS, data=data) as before:
        presigner = presigner_of(before, monkeypatch)
        await put(presigner, KEY, WORDS)
        url = urlsplit(await presigner.get(KEY, 0, 2))
    async with a_local_gateway(tmp_path, FUNCTIONS, data=data) as after:
        # Signed for another port, which is of the host; so the same host is named.
        status, _ = await ask(
            "GET", f"{after.root}{url.path}?{url.query}", range="bytes=0-1", host=url.netloc
        )
        assert status == 403
        now = presigner_of(after, monkeypatch)
        assert await ask("GET", await now.get(KEY, 0, 2), range="bytes=0-1") == (206, b"As")


OUTSIDE = ["../table.db", "log/../../table.db", "..", ".", "log/./one", "log//one", "/etc/passwd",
           "log/%2e%2e/%2e%2e/table.db", "log/\0", "log/a\nb", "x" * 300, "a/" * 600]  # fmt: skip


async def test_no_key_leads_out_of_the_folder(presigner: Presigner, data: Path):
    """Not even one that a function signs."""
    for key in OUTSIDE:
        before = inside(data)
        read = await ask("GET", await presigner.get(key, 0, 1), range="bytes=0-0")
        written = await put(presigner, key, b"evil")
        # 404: API Gateway's own, or of a key in which %2e is no dot.
        assert (read[0], written[0]) in [(400, 400), (404, 404), (404, 200)], key
        new = inside(data) - before
        assert all((data / "objects") in path.parents for path in new), key


def inside(data: Path) -> set[Path]:
    return set(data.parent.rglob("*")) - set((data / "drafts").iterdir())


async def test_a_link_in_the_folder_is_not_followed(presigner: Presigner, data: Path):
    (data / "objects" / "log").mkdir()
    (data / "objects" / "log" / "link").symlink_to(data / "table.db")
    status, body = await ask("GET", await presigner.get("log/link", 0, 4), range="bytes=0-3")
    assert status >= 400
    assert b"SQL" not in body


async def test_a_body_that_is_too_large_is_not_taken(
    presigner: Presigner, data: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(s3_api, "LARGEST_BODY", 100)
    assert (await put(presigner, KEY, bytes(100)))[0] == 200
    asked = await presigner.put("log/large", 101)
    # Only what was announced is sent, and it is refused before it comes.
    status, _ = await asyncio.to_thread(_announced, asked.url, 101)
    assert status == 400
    assert not (data / "objects" / "log" / "large").exists()


def _announced(url: str, size: int) -> tuple[int, bytes]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    connection.putrequest("PUT", f"{parts.path}?{parts.query}")
    connection.putheader("content-type", "application/octet-stream")
    connection.putheader("content-length", str(size))
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, answer.read()


async def test_an_upload_that_breaks_off_leaves_nothing(presigner: Presigner, data: Path):
    asked = await presigner.put("log/half", 3_000_000)
    await asyncio.to_thread(_half, asked.url)
    for _ in range(500):
        if not list((data / "drafts").iterdir()):
            break
        await asyncio.sleep(0.01)
    assert list((data / "drafts").iterdir()) == []
    assert not (data / "objects" / "log" / "half").exists()


def _half(url: str) -> None:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    connection.putrequest("PUT", f"{parts.path}?{parts.query}")
    connection.putheader("content-type", "application/octet-stream")
    connection.putheader("content-length", "3000000")
    connection.endheaders()
    connection.send(bytes(2_000_000))
    connection.close()


async def test_a_request_with_another_body_than_was_signed_is_refused(
    gateway: RunningGateway, presigner: Presigner, data: Path
):
    request = AWSRequest("PUT", f"{gateway.root}/{BUCKET}/log/signed", data=WORDS)
    keys = Credentials(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
    # Over plain HTTP the hash of the body is signed, as obstore does.
    S3SigV4Auth(keys, "s3", "us-east-1").add_auth(request)
    headers = dict(request.headers)
    assert (await asyncio.to_thread(_asked, "PUT", request.url, WORDS[::-1], headers))[0] == 400
    assert not (data / "objects" / "log" / "signed").exists()
    assert (await asyncio.to_thread(_asked, "PUT", request.url, WORDS, headers))[0] == 200


HOSTILE: list[bytes] = [
    b"",
    b"{}",
    b"[]",
    b"null",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"TableName":"samsa","Key":null}',
    b'{"TableName":"samsa","Key":{"pk":{"S":"a"},"sk":{"S":7}}}',
    b'{"TableName":"samsa","Key":{"pk":{"S":"\\ud800"},"sk":{"S":"a"}}}',
    json.dumps(
        {"TableName": "samsa", "Key": {"pk": {"S": "a" * 9_000}, "sk": {"S": "a"}}}
    ).encode(),
]


OPERATIONS = [
    "GetItem", "PutItem", "UpdateItem", "Query", "BatchWriteItem", "TransactWriteItems",
    "CreateTable", "Nonsense",
]  # fmt: skip


async def test_nonsense_is_refused_and_the_table_goes_on(gateway: RunningGateway):
    keys = _issued(gateway)
    for operation in OPERATIONS:
        for body in HOSTILE:
            status, _ = await asyncio.to_thread(_to_table, gateway.root, operation, body, keys)
            assert status == 400, (operation, body[:100])
    good = b'{"TableName":"samsa","Key":{"pk":{"S":"a"},"sk":{"S":"b"}}}'
    assert await asyncio.to_thread(_to_table, gateway.root, "GetItem", good, keys) == (200, b"{}")


async def test_the_table_answers_nobody_who_is_no_function(gateway: RunningGateway):
    good = b'{"TableName":"samsa","Key":{"pk":{"S":"a"},"sk":{"S":"b"}}}'
    for keys in (
        Credentials("LOCAL0000000000000000", "secret"),
        Credentials("gregor", "metamorphosis"),
        None,
    ):
        status, body = await asyncio.to_thread(_to_table, gateway.root, "GetItem", good, keys)
        assert status == 400
        assert b"UnrecognizedClientException" in body


async def test_a_request_to_the_table_has_a_size_and_is_not_too_large(
    gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(dynamodb_api, "LARGEST_BODY", 100)
    status, _ = await asyncio.to_thread(
        _to_table, gateway.root, "GetItem", b" " * 101, _issued(gateway)
    )
    assert status == 413
    headers = {"x-amz-target": "DynamoDB_20120810.GetItem", "transfer-encoding": "chunked"}
    assert (await asyncio.to_thread(_asked, "POST", f"{gateway.root}/", None, headers))[0] == 400


def _issued(gateway: RunningGateway) -> Any:
    assert gateway.api.stores is not None
    keys = gateway.api.stores.issue()
    return Credentials(keys.access_key, keys.secret_key)


def _to_table(root: str, operation: str, body: bytes, keys: Any) -> tuple[int, bytes]:
    from botocore.auth import SigV4Auth

    request = AWSRequest("POST", f"{root}/", data=body)
    request.headers["x-amz-target"] = f"DynamoDB_20120810.{operation}"
    if keys is not None:
        SigV4Auth(keys, "dynamodb", "us-east-1").add_auth(request)
    return _asked("POST", f"{root}/", body, dict(request.headers))


def test_a_folder_is_used_by_one_gateway_at_a_time(data: Path):
    first = EmbeddedStores(data)
    with pytest.raises(StoresUnusable, match="another samsa local-api or demo uses"):
        EmbeddedStores(data)
    first.close()
    EmbeddedStores(data).close()


def test_a_folder_of_a_broker_is_not_touched(data: Path):
    data.mkdir()
    (data / "ledger.db").write_bytes(b"a ledger")
    with pytest.raises(StoresUnusable, match="holds the ledger of a samsa up"):
        EmbeddedStores(data)
    assert [path.name for path in data.iterdir()] == ["ledger.db"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoresUnusable, match=r"cannot store anything in .*/file/data"):
        EmbeddedStores(tmp_path / "file" / "data")


def test_a_file_that_is_no_table_is_named(data: Path):
    data.mkdir()
    (data / "table.db").write_bytes(b"this is no SQLite file" * 100)
    with pytest.raises(
        StoresUnusable, match=r"cannot store anything in .*: file is not a database"
    ):
        EmbeddedStores(data)


def test_keys_are_listed_in_their_order_page_by_page(data: Path):
    """A folder's name sorts with its slash: `a/x` is behind `a-b`."""
    bucket = Bucket(data)
    wanted = sorted(["a-b", "a/x", "a/y/z", "a0", "b", "a.c/d"])
    for key in wanted:
        path = bucket.path_of(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    found: list[str] = []
    while page := bucket.list("", found[-1] if found else "", 2):
        found += [one.key for one in page]
    assert found == wanted


def test_what_was_spilled_is_removed_after_a_day_and_the_log_never(
    data: Path, monkeypatch: pytest.MonkeyPatch
):
    bucket = Bucket(data)
    for key in ("spill/requests/old", "spill/responses/new", "log/old"):
        path = bucket.path_of(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
        if key.endswith("old"):
            os.utime(path, (1, 1))
    assert bucket.forget_old() == 1
    assert [one.key for one in bucket.list("", "", 10)] == ["log/old", "spill/responses/new"]
    assert bucket_module.KEPT_S == 24 * 3600  # as template.yaml


async def test_items_are_removed_once_they_have_expired(gateway: RunningGateway):
    stores, keys = gateway.api.stores, _issued(gateway)
    assert stores is not None
    for name, at in (("old", time.time() - 60), ("new", time.time() + 60)):
        item = {"pk": {"S": name}, "sk": {"S": "a"}, "expires": {"N": str(int(at))}}
        body = json.dumps({"TableName": "samsa", "Item": item}).encode()
        assert (await asyncio.to_thread(_to_table, gateway.root, "PutItem", body, keys))[0] == 200
    await stores.table.forget_expired()
    found = {}
    for name in ("old", "new"):
        body = json.dumps({"TableName": "samsa", "Key": {"pk": {"S": name}, "sk": {"S": "a"}}})
        _, answer = await asyncio.to_thread(_to_table, gateway.root, "GetItem", body.encode(), keys)
        found[name] = "Item" in json.loads(answer)
    assert found == {"old": False, "new": True}
