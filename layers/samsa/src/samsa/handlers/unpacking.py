"""Long work on records: off the event loop, in slices, in as much memory as there is for it.

What clients send or ask for decides how long this takes: a batch of 2 KB may unpack to 64 MB. Short
work is done where it is asked for (`briefly`). The rest goes to the worker thread, one slice of one
request after the other; what it unpacks to is reserved beforehand. Large pieces have a reserve of
their own, so that small ones never wait for them.
"""

from typing import Generic, NamedTuple, TypeVar

from samsa.records.shapes import Shapes
from samsa.records.unpack import Making, Rooms
from samsa.work import Work

from .budget import Budget

T = TypeVar("T")

BITES = 8
"""As many are done in the event loop: 4 ms of records that are read one by one."""
LARGE = 16 * 1024 * 1024
MEMORY = 64 * 1024 * 1024
"""For all small pieces; and for the large ones, of which one is always let through."""


class Long(Generic[T]):
    """Work that was begun and is not done."""

    __slots__ = ("makes", "steps")

    def __init__(self, steps: Making[T], makes: int) -> None:
        self.steps = steps
        self.makes = makes
        """Bytes, in its next bite."""


def briefly(steps: Making[T]) -> "T | Long[T]":
    """The result of work that is short."""
    try:
        for _ in range(BITES):
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
        """At once if it is short."""
        found = briefly(steps)
        return await self.finish(found) if isinstance(found, Long) else found

    async def run(self, steps: Making[T]) -> T:
        """All of it off the event loop."""
        return await self.finish(Long(steps, 0))


class _Failed(NamedTuple):
    error: Exception


def _until_more(steps: Making[T]) -> "Making[T | Long[T] | _Failed]":
    """Up to where it is done, or wants other memory, or fails.

    An error that passes from one thread to another is part of a cycle, and so are all frames that
    it has seen: what they unpacked would stay until the next collection.
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
