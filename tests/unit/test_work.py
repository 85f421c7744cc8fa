"""What one request may do to the others."""

import asyncio
from collections.abc import Generator
from time import perf_counter

import pytest

from samsa.broker.work import SIDE_BY_SIDE, Work, WorkLimits

SLICE_S = 0.001


def _spin(seconds: float) -> None:
    until = perf_counter() + seconds
    while perf_counter() < until:
        pass


async def _count_turns(stop: asyncio.Event) -> int:
    turns = 0
    while not stop.is_set():
        turns += 1
        await asyncio.sleep(0)
    return turns


async def _go_through(work: Work, items: int, seen: list[int], name: int = 0) -> None:
    async for _ in work.pace(range(items)):
        seen.append(name)
        _spin(SLICE_S)


async def test_a_long_list_lets_others_run_in_between() -> None:
    stop = asyncio.Event()
    others = asyncio.create_task(_count_turns(stop))
    await asyncio.sleep(0)
    await _go_through(Work(WorkLimits(slice_s=SLICE_S)), 50, [])
    stop.set()
    assert await others >= 49


async def test_a_short_list_is_gone_through_at_once() -> None:
    seen: list[int] = []
    passing = _go_through(Work(WorkLimits(slice_s=60.0)), 3, seen)
    with pytest.raises(StopIteration):
        passing.send(None)
    assert len(seen) == 3


async def test_of_ten_long_lists_one_goes_on_between_two_turns_of_the_others() -> None:
    work, seen = Work(WorkLimits(slice_s=SLICE_S)), list[int]()
    lists = [asyncio.create_task(_go_through(work, 20, seen, name)) for name in range(10)]
    await asyncio.sleep(0)  # each is allowed its first slice
    most, before = 0, len(seen)
    while len(seen) < 200:
        await asyncio.sleep(0)
        most, before = max(most, len(seen) - before), len(seen)
    await asyncio.gather(*lists)
    assert most <= 2


def _steps(items: int, seen: list[int], name: int) -> Generator[None, None, str]:
    for _ in range(items):
        seen.append(name)
        _spin(SLICE_S)
        yield
    return f"{name} is done"


async def test_what_runs_in_slices_takes_turns_and_gives_its_result() -> None:
    work, seen = Work(WorkLimits(slice_s=SLICE_S)), list[int]()
    found = await asyncio.gather(*(work.in_slices(_steps(20, seen, name)) for name in range(3)))
    assert found == ["0 is done", "1 is done", "2 is done"]
    assert set(seen[:10]) == {0, 1, 2}


async def test_what_runs_in_slices_ends_when_nobody_waits_for_it() -> None:
    work, seen = Work(WorkLimits(slice_s=SLICE_S)), list[int]()
    task = asyncio.create_task(work.in_slices(_steps(10_000, seen, 0)))
    await asyncio.sleep(0)
    await work.in_thread(lambda: None)  # queued behind the first slice
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await work.in_thread(lambda: None)
    count = len(seen)
    await asyncio.sleep(0.01)
    assert len(seen) == count


async def test_some_at_once_answers_in_order_with_few_under_way() -> None:
    under_way, most = 0, 0

    async def answer(item: int) -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return item * 2

    found = await Work().some_at_once(range(1_000), answer)
    assert found == [item * 2 for item in range(1_000)]
    assert most == SIDE_BY_SIDE
