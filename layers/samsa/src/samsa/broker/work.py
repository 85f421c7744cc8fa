"""The work budget of one request: what it may make, and how long it may hold the event loop.

One broker has one `Work`. Short work runs directly. Work whose length a client chooses goes through
one of these:

- `pace(items)` iterates over a long list in the event loop. Every few milliseconds it lets all
  other requests run; of several lists that are past their first slice, one continues at a time.
  `each` and `some_at_once` collect what a coroutine returns for every item, one by one or a few
  concurrently.
- `in_slices(steps)` runs a generator in a thread, a slice at a time. Several take turns.
- `in_thread(function, …)` runs one call that releases the interpreter lock, such as a decompressor.

In the event loop, time is the loop's own clock, so that a simulation can control it.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

SHORT = 2_000
"""Up to this many elements are decoded or encoded in the event loop, in a millisecond or two; more
go to the thread."""
FEW = 16
"""Up to this many items are handled without measuring time."""
SIDE_BY_SIDE = 32
"""Calls to a store that one request makes at the same time."""
_UNFINISHED: Any = object()


@dataclass(frozen=True, slots=True)
class WorkLimits:
    """The limits of one request."""

    max_elements: int = 50_000
    """Entries of all its arrays together; more ends the connection."""
    max_made_bytes: int = 64 * 1024 * 1024
    """The bytes that one batch of compressed records may unpack to."""
    slice_s: float = 0.004
    """How long it may hold the event loop, or the thread, before other requests run."""


class Slice:
    """How long one request has held the event loop since other requests last ran."""

    __slots__ = ("_now", "_until", "_work")

    def __init__(self, work: "Work") -> None:
        self._work = work
        self._now = asyncio.get_running_loop().time
        self._until = self._now() + work.limits.slice_s

    @property
    def is_over(self) -> bool:
        return self._now() >= self._until

    async def rest(self) -> None:
        await self._work.give_way()
        self._until = self._now() + self._work.limits.slice_s


class Work:
    def __init__(self, limits: WorkLimits | None = None) -> None:
        self.limits = limits or WorkLimits()
        self.refused: Counter[str] = Counter()
        """How many requests were refused, by the limit that refused them."""
        self._turn = asyncio.Lock()
        self._threads: ThreadPoolExecutor | None = None

    def slice(self) -> "Slice":
        return Slice(self)

    async def pace(self, items: Iterable[T]) -> AsyncIterator[T]:
        current = Slice(self)
        for item in items:
            if current.is_over:
                await current.rest()
            yield item

    async def each(self, items: Iterable[T], answer: Callable[[T], Awaitable[R]]) -> list[R]:
        return [await answer(item) async for item in self.pace(items)]

    async def some_at_once(
        self, items: Sequence[T], answer: Callable[[T], Awaitable[R]]
    ) -> list[R]:
        """Up to `SIDE_BY_SIDE` items concurrently: for remote stores, whose latency adds up."""
        if len(items) <= SIDE_BY_SIDE:
            return list(await asyncio.gather(*map(answer, items)))
        found: list[Any] = [None] * len(items)
        left = enumerate(items)

        async def go_on() -> None:
            async for at, item in self.pace(left):
                found[at] = await answer(item)

        await asyncio.gather(*(go_on() for _ in range(SIDE_BY_SIDE)))
        return found

    async def give_way(self) -> None:
        """Let other requests run. Of the requests that wait here, one at a time continues."""
        async with self._turn:
            await asyncio.sleep(0)

    async def in_slices(self, steps: Generator[object, None, T]) -> T:
        while True:
            found = await self.in_thread(self._slice, steps)
            if found is not _UNFINISHED:
                return found  # type: ignore[no-any-return]

    def _slice(self, steps: Generator[object, None, T]) -> Any:
        until = perf_counter() + self.limits.slice_s
        try:
            while True:
                next(steps)
                if perf_counter() >= until:
                    return _UNFINISHED
        except StopIteration as done:
            return done.value

    async def in_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(1, "work")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, function, *arguments)

    def close(self) -> None:
        """End the thread. For a process that opens one broker after the other."""
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None
