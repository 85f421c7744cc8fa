"""One timer for many delays, and the time that a coroutine keeps the event loop."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from samsa_broker.server.delays import Delays
from samsa_broker.server.timed import Timed

MANY = 2_000


def work_for(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


class Ended(list[int]):
    def __init__(self) -> None:
        self.delays: Delays[int] = Delays(self.append)


@pytest.fixture
async def ended() -> AsyncIterator[Ended]:
    given = Ended()
    yield given
    given.delays.stop()


async def until(done: Callable[[], bool]) -> None:
    for _ in range(2_000):
        if done():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it does not end")


async def test_each_ends_after_its_time_and_in_this_order(ended: Ended):
    begun = time.monotonic()
    for key, seconds in ((1, 0.3), (2, 0.1), (3, 0.2)):
        ended.delays.add(key, seconds)
    await until(lambda: len(ended) == 1)
    assert time.monotonic() - begun >= 0.09
    await until(lambda: len(ended) == 3)
    assert time.monotonic() - begun >= 0.29
    assert ended == [2, 3, 1]
    assert len(ended.delays) == 0


async def test_thousands_that_end_one_after_the_other_share_few_timers(
    ended: Ended, monkeypatch: pytest.MonkeyPatch
):
    loop, fired = asyncio.get_running_loop(), []
    at = loop.call_at

    def call_at(*how: Any, **more: Any) -> asyncio.TimerHandle:
        fired.append(how[1])
        return at(*how, **more)

    monkeypatch.setattr(loop, "call_at", call_at)
    for key in range(MANY):
        ended.delays.add(key, 0.1 + key / MANY / 5)
    await until(lambda: len(ended) == MANY)
    assert 0 < fired.count(ended.delays._fire) <= 30


async def test_what_is_dropped_does_not_end_and_leaves_nothing_behind(ended: Ended):
    for key in range(MANY):
        ended.delays.add(key, 1e6)
        ended.delays.drop(key)
    ended.delays.add(1, 0.02)
    ended.delays.add(2, 0.04)
    ended.delays.drop(1)
    await until(lambda: ended == [2])
    assert len(ended.delays) == 0


async def test_all_end_at_once_when_told_to_and_may_begin_again(ended: Ended):
    again = Delays(lambda key: again.add(key, 0.02) if key == 1 else ended.append(key))
    again.add(1, 1e6)
    again.add(2, 1e6)
    again.end_all()
    assert ended == [2]
    assert again.keys == [1]
    again.stop()


async def test_what_a_coroutine_waits_for_is_not_its_time():
    async def work() -> str:
        work_for(0.02)
        await asyncio.sleep(0.2)
        work_for(0.02)
        return "done"

    timed = Timed(work())
    assert await timed == "done"
    assert 0.04 <= timed.seconds < 0.15


async def test_a_coroutine_that_fails_or_is_cancelled_is_timed_too():
    seen: list[str] = []

    async def fail() -> None:
        work_for(0.02)
        raise ValueError("no")

    async def wait() -> None:
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            seen.append("cancelled")
            work_for(0.02)
            raise

    failing = Timed(fail())
    with pytest.raises(ValueError, match="no"):
        await failing
    assert failing.seconds >= 0.02

    waiting = Timed(wait())

    async def run() -> None:
        await waiting

    task = asyncio.create_task(run())
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cancelled"]
    assert 0.02 <= waiting.seconds < 50
