"""Functions run as in Lambda: one event at a time each, kept warm, frozen between two."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.local_api import RunningGateway, a_local_gateway, ask, hear

from samsa_websocket.local_gateway.environments import FunctionFailed

FUNCTIONS = Path(__file__).with_name("functions")


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[RunningGateway]:
    async with a_local_gateway(tmp_path, FUNCTIONS) as gateway:
        yield gateway


async def test_an_environment_is_used_again_and_keeps_its_memory(gateway: RunningGateway):
    async with gateway.client() as client:
        first = await ask(client, "pid")
        assert await ask(client, "pid") == first
        assert await ask(client, "answered") == "4"  # $connect was the first


async def test_nothing_of_a_function_runs_between_two_events(gateway: RunningGateway):
    async with gateway.client() as client:
        await ask(client, "tick")
        before = int(await ask(client, "ticks"))
        await asyncio.sleep(0.5)  # awake it would count to a hundred
        assert int(await ask(client, "ticks")) - before < 10
        await ask(client, "sleep 0.3")
        assert int(await ask(client, "ticks")) - before > 20


async def test_concurrency_grows_with_load_up_to_the_limit(tmp_path: Path):
    async with (
        a_local_gateway(tmp_path, FUNCTIONS, environments=2) as gateway,
        gateway.client() as client,
    ):
        for _ in range(4):
            await client.send("sleep 0.2")
        assert [await hear(client) for _ in range(4)] == ["slept 0.2"] * 4
        assert gateway.api.pools["gateway"].started == 2


async def test_who_waits_for_a_start_takes_what_is_free_before_it(tmp_path: Path):
    """A crowd on a small machine: those in line are served while the others' functions start."""
    async with (
        a_local_gateway(tmp_path, FUNCTIONS, environments=12) as gateway,
        gateway.client() as client,
    ):
        await ask(client, "echo warm")
        for _ in range(30):
            await client.send("sleep 0.01")
        assert [await hear(client) for _ in range(30)] == ["slept 0.01"] * 30
        assert gateway.api.pools["gateway"].started < 12


async def test_a_start_that_fails_fails_one_and_the_next_in_line_gets_another(tmp_path: Path):
    """The first process cannot be imported, and there may be one at a time."""
    gateway = tmp_path / "functions" / "gateway"
    gateway.mkdir(parents=True)
    (gateway / "app.py").write_text(THE_FIRST_FAILS)
    async with a_local_gateway(tmp_path, gateway.parent, environments=1) as gateway:
        both = await asyncio.gather(
            gateway.client().__aenter__(), gateway.client().__aenter__(), return_exceptions=True
        )
        refused = [each for each in both if isinstance(each, Exception)]
        assert [str(each) for each in refused] == ["server rejected WebSocket connection: HTTP 502"]


THE_FIRST_FAILS = """
import os, pathlib
mark = pathlib.Path(os.environ["EVENTS"] + ".mark")
if not mark.exists():
    mark.touch()
    raise ImportError("the first time")
def handler(event, context):
    return {"statusCode": 200}
"""


async def test_a_function_can_ask_how_much_time_is_left(tmp_path: Path):
    async with (
        a_local_gateway(tmp_path, FUNCTIONS, function_s=5) as gateway,
        gateway.client() as client,
    ):
        assert 3000 < int(await ask(client, "left")) <= 5000


async def test_a_function_that_cannot_be_imported_fails_its_messages(tmp_path: Path):
    broken = tmp_path / "functions" / "gateway"
    broken.mkdir(parents=True)
    (broken / "app.py").write_text("raise ImportError('no such thing')\n")
    async with a_local_gateway(tmp_path, broken.parent) as gateway:
        for _ in range(2):
            with pytest.raises(Exception, match="HTTP 502"):
                await gateway.client()


async def test_no_process_stays_behind(tmp_path: Path):
    async with a_local_gateway(tmp_path, FUNCTIONS) as gateway, gateway.client() as client:
        pid = int(await ask(client, "pid"))
        os.kill(pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_process_that_cannot_be_started_fails_its_event_and_is_not_tried_for_ever(
    gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch
):
    tries = 0

    async def refuse(*_: object, **__: object) -> None:
        nonlocal tries
        tries += 1
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", refuse)
    with pytest.raises(FunctionFailed, match="Too many open files"):
        await gateway.api.pools["gateway"].invoke({}, lambda _: None)
    await asyncio.sleep(0)
    assert tries == 1
