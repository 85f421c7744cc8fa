"""A coroutine that is begun where it is called, and what a task does with the rest of it."""

import asyncio

import pytest

from samsa.eager import Rest, begin


async def test_what_never_waits_is_done_at_once():
    steps: list[str] = []

    async def work() -> None:
        steps.append("done")

    assert begin(work()) is None
    assert steps == ["done"]


async def test_a_wait_ends_the_beginning_and_the_rest_goes_on_from_there():
    steps: list[str] = []
    gate: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def work() -> None:
        steps.append("begun")
        steps.append(await gate)
        await asyncio.sleep(0)
        steps.append("ended")

    rest = begin(work())
    assert rest is not None
    assert steps == ["begun"]
    gate.set_result("woken")
    await rest
    assert steps == ["begun", "woken", "ended"]


async def test_an_error_before_the_first_wait_is_the_callers():
    async def work() -> None:
        raise ValueError("at once")

    with pytest.raises(ValueError, match="at once"):
        begin(work())


async def test_an_error_after_it_is_raised_where_the_rest_is_awaited():
    async def work() -> None:
        await asyncio.sleep(0)
        raise ValueError("later")

    rest = begin(work())
    assert rest is not None
    with pytest.raises(ValueError, match="later"):
        await rest


async def long_work(cleaned: list[bool]) -> None:
    try:
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0)
        cleaned.append(True)


async def test_a_task_that_is_cancelled_cancels_the_rest_within():
    cleaned: list[bool] = []
    rest = begin(long_work(cleaned))
    assert rest is not None

    async def go_on() -> None:
        await rest

    task = asyncio.create_task(go_on())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cleaned == [True]


async def test_a_rest_may_be_cancelled_before_anyone_awaits_it():
    cleaned: list[bool] = []
    rest = begin(long_work(cleaned))
    assert rest is not None
    rest.cancel()
    with pytest.raises(asyncio.CancelledError):
        await rest
    assert cleaned == [True]


async def test_a_timeout_that_is_begun_early_cancels_the_task_that_takes_over():
    outcome: list[str] = []
    begun: asyncio.Queue[Rest | None] = asyncio.Queue()

    async def work() -> None:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(60)
        except TimeoutError:
            outcome.append("too late")

    async def take_over() -> None:
        rest = await begun.get()
        assert rest is not None
        await rest
        outcome.append("goes on")

    task = asyncio.create_task(take_over())
    # As a socket's callback does: outside of any task.
    asyncio.get_running_loop().call_soon(lambda: begun.put_nowait(begin(work(), task)))
    await task
    assert outcome == ["too late", "goes on"]
