"""Turns a gather list into one response: fetches pieces in parallel, and returns them in order.

The number of pieces under way is limited, and memory for each is taken from a budget before it is
fetched: a client that reads slowly delays only its own answer.

A long range of an object comes as several pieces. Offsets are shifted as they are returned, because
a batch may lie across two of them.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator
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
    """Of the run of ranges that it is a part of."""

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


def plan(gather: Gather) -> GatherPlan:
    """Ranges that lie one behind the other in one object share their shift: together they hold
    whole batches."""
    pieces: list[RangePart] = []
    for run in _runs(gather.pieces):
        first = run[0]
        by = first.shift if isinstance(first, UrlRange) else 0
        shift = OffsetShift(by, sum(RangePart(each).size for each in run)) if by else None
        pieces += [RangePart(each, shift) for each in run]
    return GatherPlan(sum(piece.size for piece in pieces), pieces)


def _runs(pieces: Iterable[bytes | UrlRange]) -> Iterator[list[bytes | UrlRange]]:
    run: list[bytes | UrlRange] = []
    for piece in pieces:
        if run and not _continues(run[-1], piece):
            yield run
            run = []
        run.append(piece)
    if run:
        yield run


def _continues(before: bytes | UrlRange, piece: bytes | UrlRange) -> bool:
    if not (isinstance(before, UrlRange) and isinstance(piece, UrlRange)):
        return False
    same_object = before.url.partition("?")[0] == piece.url.partition("?")[0]
    follows = before.start + before.length == piece.start
    return same_object and follows and before.shift == piece.shift


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
        yield shifted(found, piece.shift)
        under_way.popleft()
        del found
        getter.memory.release(piece.size)


def shifted(data: bytes, shift: OffsetShift | None) -> Frame:
    """Raises TransferFailed."""
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
