"""Turns a gather list into one response: fetches pieces in parallel, and returns them in order.

The number of pieces under way is limited, and memory for each is taken from a budget before it is
fetched: a client that reads slowly delays only its own answer.

Offsets are shifted as the pieces are returned, because a batch may lie across two of them.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from samsa.broker.budget import Budget
from samsa.records import CorruptBatch
from samsa_websocket.envelope import Frame, Gather, UrlRange
from samsa_websocket.shim.offset_shift import OffsetShift
from samsa_websocket.shim.transfers import TransferFailed

TRIES = 4
FIRST_DELAY_S = 0.1


class RangePart(NamedTuple):
    source: bytes | UrlRange
    shift: OffsetShift | None = None
    """Of the range that it is a part of."""

    @property
    def size(self) -> int:
        return self.source.length if isinstance(self.source, UrlRange) else len(self.source)


class GatherPlan(NamedTuple):
    size: int
    """Of the whole frame."""
    pieces: list[RangePart]


class Getter(NamedTuple):
    get: Callable[[UrlRange], Awaitable[bytes]]
    memory: Budget
    ahead: int


def plan(gather: Gather, largest_piece: int) -> GatherPlan:
    """Long ranges are cut, so that they too are fetched in parallel and held in small parts."""
    pieces = [piece for source in gather.pieces for piece in _cut(source, largest_piece)]
    return GatherPlan(sum(piece.size for piece in pieces), pieces)


def _cut(source: bytes | UrlRange, largest: int) -> Iterator[RangePart]:
    if not isinstance(source, UrlRange):
        yield RangePart(source)
        return
    url, first, length, by = source
    shift = OffsetShift(by, length) if by else None
    for start in range(0, length, largest):
        yield RangePart(UrlRange(url, first + start, min(largest, length - start)), shift)


@asynccontextmanager
async def in_order(planned: GatherPlan, getter: Getter) -> AsyncIterator[AsyncIterator[Frame]]:
    """The pieces' bytes. Raises TransferFailed. Fetches under way are cancelled at the block's
    end."""
    under_way: deque[tuple[asyncio.Task[bytes], RangePart]] = deque()
    pieces = _pieces(planned, getter, under_way)
    try:
        yield pieces
    finally:
        await pieces.aclose()
        for task, _ in under_way:
            task.cancel()
        await asyncio.gather(*(task for task, _ in under_way), return_exceptions=True)
        getter.memory.release(sum(piece.size for _, piece in under_way))


async def _pieces(
    planned: GatherPlan, getter: Getter, under_way: "deque[tuple[asyncio.Task[bytes], RangePart]]"
) -> AsyncGenerator[Frame, None]:
    waiting = deque(planned.pieces)
    while waiting or under_way:
        # The first piece waits for memory; more are fetched only if there is memory for them now.
        while waiting and len(under_way) < getter.ahead:
            if under_way and waiting[0].size > getter.memory.left:
                break
            await getter.memory.acquire(waiting[0].size)
            piece = waiting.popleft()
            under_way.append((asyncio.create_task(_fetch(piece.source, getter)), piece))
        task, piece = under_way[0]
        found = await task
        yield _shifted(found, piece.shift)
        under_way.popleft()
        del found
        getter.memory.release(piece.size)


def _shifted(data: bytes, shift: OffsetShift | None) -> Frame:
    try:
        return shift.feed(data) if shift else data
    except CorruptBatch as error:
        raise TransferFailed(f"offsets cannot be shifted: {error}", False) from error


async def _fetch(source: bytes | UrlRange, getter: Getter) -> bytes:
    if not isinstance(source, UrlRange):
        return source
    delay = FIRST_DELAY_S
    for left in reversed(range(TRIES)):
        try:
            return await getter.get(source)
        except TransferFailed as error:
            if not error.again or not left:
                raise
        await asyncio.sleep(delay)
        delay *= 2
    raise AssertionError("unreachable")
