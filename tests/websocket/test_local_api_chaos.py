"""Bad weather on purpose, and what is counted meanwhile."""

import asyncio
import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from support.local_api import RunningGateway, a_local_gateway, ask, becomes_true, hear
from websockets.exceptions import ConnectionClosed

from samsa_websocket.local_gateway.chaos import Chaos

FUNCTIONS = Path(__file__).with_name("functions")


async def call(gateway: RunningGateway, path: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with await asyncio.to_thread(
        urllib.request.urlopen, f"{gateway.root}/_local/{path}", data
    ) as said:
        return json.load(said)


async def test_delays_reorder_the_invocations_of_one_connection(tmp_path: Path):
    chaos = Chaos(delay_s=0.3, seed=7)
    async with a_local_gateway(tmp_path, FUNCTIONS, chaos) as gateway, gateway.client() as client:
        sent = [f"{number}" for number in range(12)]
        for number in sent:
            await client.send(f"echo {number}")
        heard = [await hear(client) for _ in sent]
        assert sorted(heard, key=int) == sent
        assert heard != sent


async def test_a_dropped_connection_ends_without_a_close_frame(tmp_path: Path):
    async with (
        a_local_gateway(tmp_path, FUNCTIONS, Chaos(drop=1.0)) as gateway,
        gateway.client() as client,
    ):
        with pytest.raises(ConnectionClosed):
            await ask(client, "sleep 0.5")
        assert client.close_code == 1006
        assert await becomes_true(lambda: gateway.events("DISCONNECT"))


async def test_a_killed_function_answers_with_an_error(tmp_path: Path):
    async with a_local_gateway(tmp_path, FUNCTIONS) as gateway, gateway.client() as client:
        first = await ask(client, "pid")
        await call(gateway, "chaos", {"kill": 1.0})
        said = await ask(client, "sleep 0.5")
        assert json.loads(said)["message"] == "Internal server error"
        await call(gateway, "chaos", {"kill": 0})
        assert await ask(client, "pid") != first


async def test_everything_can_be_dropped_and_killed_at_once(tmp_path: Path):
    async with a_local_gateway(tmp_path, FUNCTIONS) as gateway:
        async with gateway.client() as client:
            first = await ask(client, "pid")
            await call(gateway, "chaos", {"drop_all": True, "kill_all": True})
            with pytest.raises(ConnectionClosed):
                await hear(client)
        async with gateway.client() as client:
            assert await ask(client, "pid") != first


async def test_what_goes_through_is_counted(tmp_path: Path):
    async with a_local_gateway(tmp_path, FUNCTIONS) as gateway, gateway.client() as client:
        await ask(client, "echo 12345")
        await ask(client, "sleep 0.1")
        counted = await call(gateway, "stats")
        assert (counted["connections"], counted["open"]) == (1, 1)
        assert (counted["messages_in"], counted["bytes_in"]) == (2, 10 + 9)
        assert (counted["messages_out"], counted["bytes_out"]) == (2, 5 + 9)
        assert (counted["invocations"], counted["running"]) == (3, 0)
        assert counted["longest_ms"] >= 100
        assert (await call(gateway, "stats"))["longest_ms"] == 0


async def test_the_same_seed_is_the_same_weather():
    one, other = Chaos(0.5, 0.5, 1.0, seed=3), Chaos(0.5, 0.5, 1.0, seed=3)
    for _ in range(20):
        assert (one.drops(), one.delay(), one.death()) == (
            other.drops(),
            other.delay(),
            other.death(),
        )
