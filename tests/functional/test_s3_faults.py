"""What S3Objects makes of an S3 that fails, and of answers that get lost."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from support.servers.faults import (
    Fault,
    FaultyProxy,
    answer,
    lose_the_answer,
    stay_silent,
)
from support.stores import ACCESS_KEY, BUCKET, SECRET_KEY

from samsa.aws.s3 import S3Objects
from samsa.ports import Unavailable

KEY = "log/a/0/0"
BODY = b"As Gregor Samsa awoke one morning"
DATE = "Wed, 21 Oct 2015 07:28:00 GMT"
CONFLICT = answer(409, b"<Error><Code>ConditionalRequestConflict</Code></Error>")


async def list_all(objects: S3Objects) -> list[str]:
    return [key async for key in objects.list("log/")]


CALLS: dict[str, Callable[[S3Objects], Awaitable[Any]]] = {
    "put": lambda objects: objects.put_if_absent(KEY, [BODY]),
    "get": lambda objects: objects.get(KEY),
    "piece": lambda objects: objects.piece(KEY, 0, 1),
    "delete": lambda objects: objects.delete([KEY]),
    "list": list_all,
}


@pytest.fixture
def objects(proxy: FaultyProxy) -> S3Objects:
    return S3Objects(BUCKET, str(uuid4()), proxy.url)


@pytest.fixture
def hasty(proxy: FaultyProxy) -> S3Objects:
    return S3Objects(BUCKET, str(uuid4()), proxy.url, timeout_s=0.2)


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(answer(500), id="500"),
        pytest.param(answer(503, b"<Error><Code>SlowDown</Code></Error>"), id="slow down"),
        pytest.param(answer(403, b"<Error><Code>AccessDenied</Code></Error>"), id="denied"),
        pytest.param(answer(404, b"<Error><Code>NoSuchBucket</Code></Error>"), id="no bucket"),
        pytest.param(stay_silent, id="silence"),
    ],
)
@pytest.mark.parametrize("method", CALLS)
async def test_whatever_else_fails_is_unavailable(
    hasty: S3Objects, proxy: FaultyProxy, fault: Fault, method: str
):
    proxy.faults = [fault] * 20
    with pytest.raises(Unavailable):
        await CALLS[method](hasty)


async def test_a_dead_endpoint_is_unavailable(dead_endpoint: str):
    objects = S3Objects(BUCKET, endpoint=dead_endpoint, timeout_s=0.5)
    with pytest.raises(Unavailable):
        await objects.put_if_absent(KEY, [BODY])
    with pytest.raises(Unavailable):
        await objects.get(KEY)


async def test_a_missing_bucket_is_not_a_missing_object(moto: str):
    with pytest.raises(Unavailable, match="no such bucket"):
        await S3Objects("nobody-made-it", endpoint=moto).get(KEY)


async def test_one_server_error_is_retried(objects: S3Objects, proxy: FaultyProxy):
    proxy.faults = [answer(503), answer(500)]
    assert await objects.put_if_absent(KEY, [BODY])
    proxy.faults = [answer(503)]
    assert bytes(await objects.get(KEY)) == BODY


async def test_a_conflict_does_not_mean_that_the_object_exists(
    objects: S3Objects, proxy: FaultyProxy
):
    proxy.faults = [CONFLICT]
    with pytest.raises(Unavailable):
        await objects.put_if_absent(KEY, [BODY])
    assert await objects.put_if_absent(KEY, [BODY])


async def test_a_conflict_over_an_object_that_exists_says_so(
    objects: S3Objects, proxy: FaultyProxy
):
    await objects.put_if_absent(KEY, [BODY])
    proxy.faults = [CONFLICT]
    assert not await objects.put_if_absent(KEY, [b"other"])


async def test_a_put_whose_answer_is_lost_never_claims_to_have_failed_or_won(
    objects: S3Objects, proxy: FaultyProxy
):
    """Whoever repeats it learns that the key is taken, and reads its own bytes."""
    proxy.faults = [lose_the_answer]
    try:
        assert not await objects.put_if_absent(KEY, [BODY])
    except Unavailable:
        assert not await objects.put_if_absent(KEY, [BODY])
    assert bytes(await objects.get(KEY)) == BODY


@asynccontextmanager
async def a_store_that_hangs_up(exists: bool) -> AsyncIterator[str]:
    """On every put, as soon as it knows what it is for."""
    found = f"200 OK\r\nlast-modified: {DATE}\r\netag: x" if exists else "404 Not Found"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if (await reader.readuntil(b"\r\n\r\n")).startswith(b"HEAD"):
            writer.write(f"HTTP/1.1 {found}\r\ncontent-length: 0\r\n\r\n".encode())
            await writer.drain()
        else:
            at_once = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_a_large_put_that_is_cut_off_by_a_refusal_is_refused():
    """Nobody hears a 412 that is said before the body is sent."""
    async with a_store_that_hangs_up(exists=True) as endpoint:
        objects = S3Objects(BUCKET, endpoint=endpoint)
        assert not await objects.put_if_absent(KEY, [bytes(32_000_000)])


async def test_a_large_put_that_is_cut_off_for_another_reason_may_be_tried_again():
    async with a_store_that_hangs_up(exists=False) as endpoint:
        objects = S3Objects(BUCKET, endpoint=endpoint)
        with pytest.raises(Unavailable, match="error sending request"):
            await objects.put_if_absent(KEY, [bytes(32_000_000)])


async def test_half_an_object_is_never_returned(objects: S3Objects, proxy: FaultyProxy):
    await objects.put_if_absent(KEY, [BODY])
    half = answer(200, BODY[:9], content_length=str(len(BODY)), etag='"x"', last_modified=DATE)
    proxy.faults = [half] * 20
    with pytest.raises(Unavailable):
        await objects.get(KEY)


async def test_credentials_of_a_profile_serve_where_the_environment_has_none(
    versity: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    profile = f"[insect]\naws_access_key_id={ACCESS_KEY}\naws_secret_access_key={SECRET_KEY}\n"
    (tmp_path / "credentials").write_text(profile)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_PROFILE", "insect")
    assert await S3Objects(BUCKET, str(uuid4()), versity).put_if_absent(KEY, [BODY])


async def test_wrong_credentials_are_refused(versity: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(Unavailable):
        await S3Objects(BUCKET, str(uuid4()), versity).put_if_absent(KEY, [BODY])
