"""Races: the same calls at the same time, by tasks that share a process or by processes."""

import asyncio
import multiprocessing
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import Any, TypeAlias

from samsa.ports import Unavailable

Call: TypeAlias = tuple[Any, ...]
"""A method's name and its arguments."""
Race: TypeAlias = Callable[[list[Call]], Awaitable[list[Any]]]
"""Run the calls against each other; their answers, in the order of the calls."""

PROCESSES = 3
_start: Barrier


async def retry(store: object, method: str, *arguments: object) -> Any:
    """Call until there is an answer: what a caller does about Unavailable."""
    for _ in range(50):
        try:
            return await getattr(store, method)(*arguments)
        except Unavailable:
            await asyncio.sleep(0.01)
    raise AssertionError(f"{method} stays unavailable")


async def race_of_tasks(stores: list[Any], calls: list[Call]) -> list[Any]:
    runs = [retry(stores[i % len(stores)], *call) for i, call in enumerate(calls)]
    return await asyncio.gather(*runs)


@contextmanager
def crowd_of_processes() -> Iterator[ProcessPoolExecutor]:
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(PROCESSES)
    with ProcessPoolExecutor(PROCESSES, context, _enter, (barrier,)) as crowd:
        yield crowd


async def race_of_processes(
    crowd: ProcessPoolExecutor, open_store: Callable[[], Any], calls: list[Call]
) -> list[Any]:
    loop = asyncio.get_running_loop()
    lanes = [calls[lane::PROCESSES] for lane in range(PROCESSES)]
    runs = [loop.run_in_executor(crowd, _run, open_store, lane) for lane in lanes]
    answers: list[Any] = [None] * len(calls)
    for lane, answered in enumerate(await asyncio.gather(*runs)):
        answers[lane::PROCESSES] = answered
    return answers


def _enter(barrier: Barrier) -> None:
    global _start
    _start = barrier


def _run(open_store: Callable[[], Any], calls: list[Call]) -> list[Any]:
    async def run() -> list[Any]:
        store = open_store()
        _start.wait(30)
        try:
            return [await retry(store, *call) for call in calls]
        finally:
            await store.close()

    return asyncio.run(run())
