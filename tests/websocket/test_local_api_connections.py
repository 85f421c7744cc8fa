"""@connections, through boto3, which knows nothing of us."""

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from support.local_api import RunningGateway, a_local_gateway, ask, becomes_true, hear

FUNCTIONS = Path(__file__).with_name("functions")
KB = 1024


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[RunningGateway]:
    async with a_local_gateway(tmp_path, FUNCTIONS) as gateway:
        yield gateway


def management(gateway: RunningGateway, secret: str = "metamorphosis") -> Any:
    return boto3.client(
        "apigatewaymanagementapi",
        endpoint_url=gateway.endpoint,
        region_name="eu-central-1",
        aws_access_key_id="gregor",
        aws_secret_access_key=secret,
        config=Config(retries={"total_max_attempts": 1}),
    )


def connection_id(gateway: RunningGateway) -> str:
    return gateway.events("CONNECT")[-1]["requestContext"]["connectionId"]


async def test_what_is_posted_is_pushed(gateway: RunningGateway):
    async with gateway.client() as client:
        post = management(gateway).post_to_connection
        await asyncio.to_thread(post, ConnectionId=connection_id(gateway), Data="wake é".encode())
        assert await hear(client) == "wake é"
        assert gateway.api.stats.pushed == 1


async def test_a_connection_tells_since_when_it_is_there(gateway: RunningGateway):
    async with gateway.client(user_agent_header="samsa"):
        get = management(gateway).get_connection
        found = await asyncio.to_thread(get, ConnectionId=connection_id(gateway))
    since = gateway.events("CONNECT")[0]["requestContext"]["connectedAt"]
    assert abs(found["ConnectedAt"].timestamp() * 1000 - since) < 2
    assert found["LastActiveAt"] >= found["ConnectedAt"]
    assert found["Identity"] == {"SourceIp": "127.0.0.1", "UserAgent": "samsa"}


async def test_a_deleted_connection_is_closed(gateway: RunningGateway):
    async with gateway.client() as client:
        delete = management(gateway).delete_connection
        await asyncio.to_thread(delete, ConnectionId=connection_id(gateway))
        async with asyncio.timeout(5):
            await client.wait_closed()
        assert await becomes_true(lambda: gateway.events("DISCONNECT"))


async def test_whoever_is_gone_is_gone(gateway: RunningGateway):
    async with gateway.client() as client:
        await ask(client, "echo hello")
    assert await becomes_true(lambda: gateway.events("DISCONNECT"))
    there = management(gateway)
    for call, arguments in (
        (there.post_to_connection, {"Data": b"x"}),
        (there.get_connection, {}),
        (there.delete_connection, {}),
    ):
        with pytest.raises(there.exceptions.GoneException):
            await asyncio.to_thread(call, ConnectionId=connection_id(gateway), **arguments)
    with pytest.raises(there.exceptions.GoneException):
        await asyncio.to_thread(there.post_to_connection, ConnectionId="never=", Data=b"x")


async def test_more_than_128_kb_is_too_large(gateway: RunningGateway):
    async with gateway.client() as client:
        there, name = management(gateway), connection_id(gateway)
        full = b"x" * (128 * KB)
        await asyncio.to_thread(there.post_to_connection, ConnectionId=name, Data=full)
        assert len(await hear(client)) == 128 * KB
        with pytest.raises(there.exceptions.PayloadTooLargeException):
            # boto3 would refuse it by itself, if its model were asked to.
            await asyncio.to_thread(there.post_to_connection, ConnectionId=name, Data=full + b"x")


async def test_pushes_beyond_the_rate_are_refused(tmp_path: Path):
    limits = {"requests_per_s": 1, "request_burst": 2}
    async with a_local_gateway(tmp_path, FUNCTIONS, **limits) as gateway, gateway.client():
        there, name = management(gateway), connection_id(gateway)
        post = partial(there.post_to_connection, ConnectionId=name, Data=b"x")
        said = [await asyncio.to_thread(outcome, post) for _ in range(5)]
        assert said[0] is None
        assert isinstance(said[-1], there.exceptions.LimitExceededException)


def outcome(call: Callable[[], Any]) -> Exception | None:
    try:
        call()
    except Exception as error:
        return error
    return None


async def test_a_client_that_does_not_read_is_not_pushed_to_for_ever(tmp_path: Path):
    async with (
        a_local_gateway(tmp_path, FUNCTIONS, unsent_bytes=256 * KB) as gateway,
        gateway.client(max_queue=1) as client,
    ):
        connection = gateway.api.gateway.connections[connection_id(gateway)]
        there = management(gateway)
        post = there.post_to_connection
        client.transport.pause_reading()
        name, full = connection_id(gateway), b"x" * (128 * KB)
        pushes = [asyncio.to_thread(post, ConnectionId=name, Data=full) for _ in range(64)]
        said = asyncio.gather(*pushes, return_exceptions=True)
        full_buffer = await becomes_true(lambda: connection.unsent >= 256 * KB, 10)
        assert full_buffer
        with pytest.raises(there.exceptions.LimitExceededException):
            await asyncio.to_thread(post, ConnectionId=name, Data=full)
        connection.abort()
        await said
        client.transport.abort()


async def test_pushes_are_signed_where_signatures_are_asked_for(tmp_path: Path):
    keys = {"gregor": "metamorphosis"}
    async with a_local_gateway(tmp_path, FUNCTIONS, keys=keys) as gateway:
        there = management(gateway)
        with pytest.raises(there.exceptions.GoneException):
            await asyncio.to_thread(there.post_to_connection, ConnectionId="a=", Data=b"x")
        forged = management(gateway, "castle")
        with pytest.raises(forged.exceptions.ForbiddenException):
            await asyncio.to_thread(forged.post_to_connection, ConnectionId="a=", Data=b"x")
