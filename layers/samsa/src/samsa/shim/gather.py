"""A gather list becomes one response: pieces are fetched in parallel and given out in order.

At most so many pieces are under way at once, and each is paid for from a budget before it is
fetched: a client that reads slowly holds up its own answer and nothing else.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from samsa.envelope import Gather, Range
from samsa.handlers.budget import Budget
from samsa.shim.transfers import TransferFailed

TRIES = 4
FIRST_DELAY_S = 0.1


class Plan(NamedTuple):
    size: int
    """Of the whole frame."""
    pieces: list[bytes | Range]


class Getter(NamedTuple):
    get: Callable[[Range], Awaitable[bytes]]
    memory: Budget
    ahead: int


def plan(gather: Gather, largest_piece: int) -> Plan:
    """Long ranges are cut, so that they too are fetched in parallel and held in small parts."""
    pieces = [part for piece in gather.pieces for part in _cut(piece, largest_piece)]
    return Plan(sum(_size(piece) for piece in pieces), pieces)


def _cut(piece: bytes | Range, largest: int) -> Iterator[bytes | Range]:
    if not isinstance(piece, Range):
        yield piece
        return
    for start in range(0, piece.length, largest):
        yield Range(piece.url, piece.start + start, min(largest, piece.length - start))


def _size(piece: bytes | Range) -> int:
    return piece.length if isinstance(piece, Range) else len(piece)


@asynccontextmanager
async def in_order(planned: Plan, getter: Getter) -> AsyncIterator[AsyncIterator[bytes]]:
    """The pieces' bytes. Raises TransferFailed. Whatever is under way ends with the block."""
    under_way: deque[tuple[asyncio.Task[bytes], int]] = deque()
    pieces = _pieces(planned, getter, under_way)
    try:
        yield pieces
    finally:
        await pieces.aclose()
        for task, _ in under_way:
            task.cancel()
        await asyncio.gather(*(task for task, _ in under_way), return_exceptions=True)
        getter.memory.release(sum(size for _, size in under_way))


async def _pieces(
    planned: Plan, getter: Getter, under_way: "deque[tuple[asyncio.Task[bytes], int]]"
) -> AsyncGenerator[bytes, None]:
    waiting = deque(planned.pieces)
    while waiting or under_way:
        # The first is fetched in any case; more of them only if there is memory for it now.
        while waiting and len(under_way) < getter.ahead:
            size = _size(waiting[0])
            if under_way and size > getter.memory.left:
                break
            await getter.memory.acquire(size)
            under_way.append((asyncio.create_task(_fetch(waiting.popleft(), getter)), size))
        task, size = under_way[0]
        found = await task
        yield found
        under_way.popleft()
        del found
        getter.memory.release(size)


async def _fetch(piece: bytes | Range, getter: Getter) -> bytes:
    if not isinstance(piece, Range):
        return piece
    delay = FIRST_DELAY_S
    for left in reversed(range(TRIES)):
        try:
            return await getter.get(piece)
        except TransferFailed as error:
            if not error.again or not left:
                raise
        await asyncio.sleep(delay)
        delay *= 2
    raise AssertionError("unreachable")
