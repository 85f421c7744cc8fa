"""A coroutine that is begun where it is called, and what a task does with the rest of it."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samsa.eager_task import Rest, begin


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


async def test_beginning_within_a_task_leaves_that_task_the_current_one():
    mine = asyncio.current_task()
    seen: list[object] = []

    async def work() -> None:
        seen.append(asyncio.current_task())

    assert begin(work()) is None
    assert seen != [mine]
    assert asyncio.current_task() is mine


# Timeouts. A connection's task rests, a socket's callback begins a request, the task takes over.


class Resting:
    """A task that waits for rests and awaits each, as a connection does."""

    def __init__(self) -> None:
        self.begun: asyncio.Queue[Rest | None] = asyncio.Queue()
        self.outcomes: list[str] = []
        self.task = asyncio.create_task(self._serve())

    async def _serve(self) -> None:
        while True:
            rest = await self.begun.get()
            if rest is not None:
                await rest
            self.outcomes.append("goes on")

    def begin(self, work: Coroutine[Any, Any, None], turns: int = 0) -> None:
        """Outside of any task; the task takes over some turns of the loop later."""
        loop = asyncio.get_running_loop()
        loop.call_soon(lambda: self._hand_over(begin(work), turns))

    def _hand_over(self, rest: Rest | None, turns: int) -> None:
        if turns:
            asyncio.get_running_loop().call_soon(self._hand_over, rest, turns - 1)
        else:
            self.begun.put_nowait(rest)

    async def wait_for(self, count: int) -> None:
        async with asyncio.timeout(5):
            while self.outcomes.count("goes on") < count:
                assert not self.task.done(), "the task that rests was ended"
                await asyncio.sleep(0)

    async def stop(self) -> None:
        assert self.task.cancelling() == 0
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task


@pytest.fixture
async def resting() -> AsyncIterator[Resting]:
    task = Resting()
    await asyncio.sleep(0)
    yield task
    await task.stop()


@dataclass
class Scope:
    """A timeout of some turns of the loop, around waits of some turns and further scopes."""

    expires_after: int
    waits: list["int | Scope"]


class Played:
    """Scopes, played on a counted clock: a timeout expires after so many turns of the loop."""

    def __init__(self) -> None:
        self.log: list[str] = []

    async def play(self, scope: Scope) -> None:
        try:
            async with asyncio.timeout(None) as timeout:
                expire_in(timeout, scope.expires_after)
                for each in scope.waits:
                    if isinstance(each, Scope):
                        await self.play(each)
                    else:
                        await turns_of_the_loop(each)
            self.log.append("in time" if not timeout.expired() else "late, and nobody noticed")
        except TimeoutError:
            self.log.append("too late" if timeout.expired() else "another's time is up")


def expire_in(timeout: asyncio.Timeout, turns: int) -> None:
    if turns <= 0:
        timeout.reschedule(asyncio.get_running_loop().time())
    elif timeout._state.value == "active":  # else it has been left
        asyncio.get_running_loop().call_soon(expire_in, timeout, turns - 1)


async def turns_of_the_loop(count: int) -> None:
    """As a future, which may be cancelled while nothing awaits it yet."""
    if count == 0:
        return
    loop = asyncio.get_running_loop()
    done = loop.create_future()

    def tick(left: int) -> None:
        if left == 0:
            if not done.done():
                done.set_result(None)
        else:
            loop.call_soon(tick, left - 1)

    tick(count)
    await done


def scopes(depth: int) -> st.SearchStrategy[Scope]:
    wait = st.integers(0, 4)
    waits = wait if depth == 0 else wait | scopes(depth - 1)
    return st.builds(Scope, st.integers(0, 8), st.lists(waits, max_size=3))


@given(st.lists(st.tuples(scopes(2), st.integers(0, 4)), min_size=1, max_size=4))
@settings(max_examples=200)
def test_no_timeout_of_a_request_reaches_beyond_its_own_scope(
    requests: list[tuple[Scope, int]],
) -> None:
    """Whenever it expires: before the first wait, before the task takes over, during, nested."""

    async def serve() -> None:
        task = Resting()
        await asyncio.sleep(0)
        for number, (scope, turns) in enumerate(requests):
            played = Played()
            task.begin(played.play(scope), turns)
            await task.wait_for(number + 1)
            assert "another's time is up" not in played.log
            assert "late, and nobody noticed" not in played.log
            assert task.task.cancelling() == 0
        await task.stop()

    asyncio.run(serve())


@pytest.mark.parametrize("turns", [0, 1, 3])
async def test_a_time_that_is_over_before_the_first_wait_is_the_requests_alone(
    resting: Resting, turns: int
):
    async def late() -> None:
        try:
            async with asyncio.timeout(-1):
                await asyncio.sleep(60)
        except TimeoutError:
            resting.outcomes.append("too late")

    for number in range(3):
        resting.begin(late(), turns)
        await resting.wait_for(number + 1)
    assert resting.outcomes == ["too late", "goes on"] * 3


async def test_a_timeout_that_is_begun_early_cancels_the_rest_of_its_scope(resting: Resting):
    async def work() -> None:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(60)
        except TimeoutError:
            resting.outcomes.append("too late")

    resting.begin(work())
    await resting.wait_for(1)
    assert resting.outcomes == ["too late", "goes on"]


async def test_a_timeout_whose_coroutine_has_ended_cancels_nothing(resting: Resting):
    kept: list[asyncio.Timeout] = []

    async def work() -> None:
        kept.append(asyncio.timeout(None))
        await kept[0].__aenter__()  # and never left
        await asyncio.sleep(0)

    resting.begin(work())
    await resting.wait_for(1)
    kept[0].reschedule(0)
    for _ in range(3):
        await asyncio.sleep(0)
    resting.begin(turns_of_the_loop(2))
    await resting.wait_for(2)
