"""The local API Gateway refuses what the real one refuses: each row of its limits, one test."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from support.local_api import RunningGateway, a_local_gateway, ask, becomes_true, hear
from websockets.exceptions import ConnectionClosed, InvalidStatus

FUNCTIONS = Path(__file__).with_name("functions")
KB = 1024


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[RunningGateway]:
    async with a_local_gateway(tmp_path, FUNCTIONS) as gateway:
        yield gateway


async def closed(client) -> int:
    async with asyncio.timeout(10):
        await client.wait_closed()
    return client.close_code


async def test_the_return_values_body_is_the_route_response(gateway: RunningGateway):
    async with gateway.client() as client:
        assert await ask(client, "echo hello") == "hello"
        assert await ask(client, "teapot") == "a teapot"


@pytest.mark.parametrize("origin", ["https://elsewhere.example", "null", "http://127.0.0.1:1"])
async def test_a_page_of_another_site_opens_no_websocket(gateway: RunningGateway, origin: str):
    with pytest.raises(InvalidStatus) as refused:
        await gateway.client(origin=origin)
    assert refused.value.response.status_code == 403
    assert gateway.events("CONNECT") == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://elsewhere.example"}, 403),
        ({"host": "rebound.example:3001"}, 421),
        ({"host": "127.0.0.1:3001", "origin": "http://rebound.example:3001"}, 403),
    ],
)
@pytest.mark.parametrize("path", ["/topics", "/_local/chaos", "/local/@connections/x"])
async def test_a_page_of_another_site_is_not_answered(
    gateway: RunningGateway, path: str, headers: dict[str, str], status: int
):
    async with httpx.AsyncClient() as client:
        answer = await client.post(f"{gateway.root}{path}", content=b"{}", headers=headers)
    assert answer.status_code == status


async def test_its_own_pages_are_answered(gateway: RunningGateway):
    async with httpx.AsyncClient() as client:
        answer = await client.get(f"{gateway.root}/_local/stats", headers={"origin": gateway.root})
    assert answer.status_code == 200
    async with gateway.client(origin=gateway.root) as client:
        assert await ask(client, "echo hello") == "hello"


async def test_without_a_body_nothing_is_sent(gateway: RunningGateway):
    async with gateway.client() as client:
        await ask(client, "echo warm")
        await client.send("nothing")
        with pytest.raises(TimeoutError):
            await hear(client, 0.3)
        assert len(gateway.events("MESSAGE")) == 2


async def test_a_binary_frame_closes_with_1003(gateway: RunningGateway):
    async with gateway.client() as client:
        await client.send(b"bytes")
        assert await closed(client) == 1003
    assert gateway.events("MESSAGE") == []


async def test_a_frame_over_32_kb_closes_with_1009(gateway: RunningGateway):
    async with gateway.client() as client:
        assert await ask(client, "echo " + "x" * (32 * KB - 5)) == "x" * (32 * KB - 5)
        await client.send("echo " + "x" * (32 * KB - 4))
        assert await closed(client) == 1009


async def test_a_message_up_to_128_kb_comes_in_fragments_and_a_longer_one_closes_with_1009(
    gateway: RunningGateway,
):
    text = "echo " + "x" * (128 * KB - 5)
    async with gateway.client() as client:
        assert await ask(client, pieces(text)) == text[5:]
        with pytest.raises(ConnectionClosed):
            await ask(client, pieces(text + "x"))
        assert await closed(client) == 1009


def pieces(text: str) -> list[str]:
    return [text[at : at + 32 * KB] for at in range(0, len(text), 32 * KB)]


async def test_an_answer_over_128_kb_is_an_error_and_the_connection_stays(gateway: RunningGateway):
    async with gateway.client() as client:
        assert len(await ask(client, f"fill {128 * KB}")) == 128 * KB
        await client.send(f"fill {128 * KB + 1}")
        assert json.loads(await hear(client))["message"] == "Internal server error"
        assert await ask(client, "echo still here") == "still here"


async def test_a_function_that_takes_too_long_is_not_waited_for_but_goes_on(tmp_path: Path):
    written = tmp_path / "written"
    async with (
        a_local_gateway(tmp_path, FUNCTIONS, integration_s=1.5) as gateway,
        gateway.client() as client,
    ):
        await ask(client, "echo warm")
        said = json.loads(await ask(client, f"write {written} 2.5"))
        assert not written.exists()
        assert said["message"] == "Endpoint request timed out"
        assert (
            said["connectionId"] == gateway.events("MESSAGE")[0]["requestContext"]["connectionId"]
        )
        assert await becomes_true(written.exists)


async def test_a_function_past_its_own_time_is_killed(tmp_path: Path):
    written = tmp_path / "written"
    async with (
        a_local_gateway(tmp_path, FUNCTIONS, function_s=0.4) as gateway,
        gateway.client() as client,
    ):
        first = await ask(client, "pid")
        said = await ask(client, f"write {written} 1")
        assert json.loads(said)["message"] == "Internal server error"
        assert await ask(client, "pid") != first
        await asyncio.sleep(0.8)
        assert not written.exists()


async def ping_until_closed(client) -> None:
    with suppress(ConnectionClosed):
        while True:
            await (await client.ping())
            await asyncio.sleep(0.1)


async def test_an_idle_connection_is_closed_and_ping_frames_do_not_help(tmp_path: Path):
    async with (
        a_local_gateway(tmp_path, FUNCTIONS, idle_s=0.6) as gateway,
        gateway.client() as client,
    ):
        await ask(client, "echo awake")
        pinging = asyncio.create_task(ping_until_closed(client))
        assert await closed(client) == 1001
        await pinging
        [event] = await becomes_true(lambda: gateway.events("DISCONNECT"))
        assert event["requestContext"]["disconnectStatusCode"] == 1001


async def test_a_connection_that_talks_is_not_idle(tmp_path: Path):
    async with (
        a_local_gateway(tmp_path, FUNCTIONS, idle_s=1.0) as gateway,
        gateway.client() as client,
    ):
        for _ in range(4):
            await asyncio.sleep(0.4)
            assert await ask(client, "echo awake") == "awake"


async def test_a_connection_ends_at_its_age_however_busy(tmp_path: Path):
    async with (
        a_local_gateway(tmp_path, FUNCTIONS, life_s=0.7) as gateway,
        gateway.client() as client,
    ):
        with pytest.raises(ConnectionClosed):
            await talk_for_ever(client)
        assert await closed(client) == 1001


async def talk_for_ever(client) -> None:
    while True:
        await ask(client, "echo busy")


async def test_messages_of_one_connection_run_at_once_and_answer_in_any_order(
    gateway: RunningGateway,
):
    async with gateway.client() as client:
        await client.send("sleep 1")
        await client.send("echo quick")
        assert await hear(client) == "quick"
        assert await hear(client) == "slept 1"
        assert gateway.api.pools["gateway"].started == 2


async def test_beyond_the_rate_messages_are_refused_and_the_connection_stays(tmp_path: Path):
    async with (
        a_local_gateway(tmp_path, FUNCTIONS, requests_per_s=3, request_burst=3) as gateway,
        gateway.client() as client,
    ):
        for _ in range(12):
            await client.send("echo x")
        said = [await hear(client) for _ in range(12)]
        refused = [json.loads(text)["message"] for text in said if text != "x"]
        # The handshake was a request, too; while it was answered the bucket filled again a little.
        assert 9 <= len(refused) <= 10
        assert set(refused) == {"Too Many Requests"}
        await asyncio.sleep(0.5)
        assert await ask(client, "echo again") == "again"


async def test_beyond_the_rate_handshakes_are_refused_with_429(tmp_path: Path):
    limits = {"connections_per_s": 1, "connection_burst": 2}
    async with a_local_gateway(tmp_path, FUNCTIONS, **limits) as gateway:
        async with gateway.client(), gateway.client():
            with pytest.raises(InvalidStatus) as refused:
                await gateway.client()
        assert refused.value.response.status_code == 429
        assert len(gateway.events("CONNECT")) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 500])
async def test_connect_refuses_with_the_functions_status(gateway: RunningGateway, status: int):
    with pytest.raises(InvalidStatus) as refused:
        await gateway.client(f"?status={status}")
    assert refused.value.response.status_code == status
    assert gateway.events("DISCONNECT") == []


async def test_a_connect_that_fails_is_a_502(gateway: RunningGateway):
    with pytest.raises(InvalidStatus) as refused:
        await gateway.client("?raise=1")
    assert refused.value.response.status_code == 502


@pytest.mark.parametrize("word", ["fail on purpose", "die", "malformed x", "unprintable"])
async def test_a_function_that_fails_costs_its_message_alone(gateway: RunningGateway, word: str):
    async with gateway.client() as client:
        said = json.loads(await ask(client, word))
        assert said["message"] == "Internal server error"
        assert sorted(said) == ["connectionId", "message", "requestId"]
        assert await ask(client, "echo next") == "next"


async def test_a_path_that_is_not_the_stage_is_refused(gateway: RunningGateway):
    with pytest.raises(InvalidStatus) as refused:
        await gateway.client("/elsewhere")
    assert refused.value.response.status_code == 403
