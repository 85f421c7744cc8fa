"""Long work on records: off the event loop, in slices, within a memory budget.

Clients decide how long this work takes: a batch of 2 KB may unpack to 64 MB. Short work is done
directly in the event loop (`briefly`). Longer work goes to the worker thread, where requests take
turns slice by slice. Memory for the unpacked bytes is reserved first. Large pieces have a budget of
their own, so that small ones never wait for them.
"""

from typing import Generic, NamedTuple, TypeVar

from samsa.broker.work import Work
from samsa.records.shapes import Shapes
from samsa.records.unpack import Making, Rooms

from .budget import Budget

T = TypeVar("T")

SLICES = 8
"""Steps that are done in the event loop: 4 ms of records that are read one by one."""
LARGE = 16 * 1024 * 1024
MEMORY = 64 * 1024 * 1024
"""The budget for all small pieces, and another one for all large ones. One large piece is always
allowed."""


class Long(Generic[T]):
    """Work that has begun and is not done."""

    __slots__ = ("makes", "steps")

    def __init__(self, steps: Making[T], makes: int) -> None:
        self.steps = steps
        self.makes = makes
        """Bytes that its next step will make."""


def briefly(steps: Making[T]) -> "T | Long[T]":
    """The result, if the work is short; else the rest of the work."""
    try:
        for _ in range(SLICES):
            if makes := next(steps):
                return Long(steps, makes)
    except StopIteration as done:
        found: T = done.value
        return found
    return Long(steps, 0)


class Unpacking:
    def __init__(self, work: Work) -> None:
        self._work = work
        self.rooms = Rooms()
        self.shapes = Shapes()
        self._small = Budget(MEMORY)
        self._large = Budget(MEMORY)

    async def finish(self, long: Long[T]) -> T:
        while True:
            budget = self._large if long.makes > LARGE else self._small
            await budget.acquire(long.makes)
            try:
                found = await self._work.in_slices(_until_more(long.steps))
            finally:
                budget.release(long.makes)
            if isinstance(found, _Failed):
                raise found.error
            if not isinstance(found, Long):
                return found
            long = found

    async def do(self, steps: Making[T]) -> T:
        """In the event loop if it is short, else in the worker thread."""
        found = briefly(steps)
        return await self.finish(found) if isinstance(found, Long) else found

    async def run(self, steps: Making[T]) -> T:
        """All of it off the event loop."""
        return await self.finish(Long(steps, 0))


class _Failed(NamedTuple):
    error: Exception


def _until_more(steps: Making[T]) -> "Making[T | Long[T] | _Failed]":
    """Run until the work is done, needs other memory, or fails.

    An error that is passed between threads is part of a reference cycle, with all frames of its
    traceback: what they unpacked would stay in memory until the next garbage collection.
    """
    while True:
        try:
            makes = next(steps)
        except StopIteration as done:
            found: T = done.value
            return found
        except Exception as error:
            error.__context__ = None
            return _Failed(error.with_traceback(None))
        if makes:
            return Long(steps, makes)
        yield None
