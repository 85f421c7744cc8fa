"""Copy: the bytes of a run, for one new object, a few pieces at a time and in order."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence

from samsa.ports import Buffer, Extent, Unavailable

from .extents import Range, join, read, whole
from .stores import Stores

PIECE_BYTES = 1024 * 1024
AHEAD_BYTES = 8 * 1024 * 1024
AHEAD = 64
"""Pieces to prefetch from a remote store."""


async def copy(stores: Stores, run: Sequence[Extent]) -> AsyncIterator[Buffer]:
    """The bytes of a run. Raises Missing; and Unavailable if an object is shorter than its extents
    say."""
    ahead = (AHEAD, AHEAD_BYTES) if stores.objects.remote else (1, 0)
    coming: deque[tuple[Range, asyncio.Task[Buffer]]] = deque()
    waiting, held = deque(_pieces(run)), 0
    try:
        while waiting or coming:
            while waiting and (not coming or (len(coming) < ahead[0] and held < ahead[1])):
                wanted = waiting.popleft()
                held += wanted.length
                coming.append((wanted, asyncio.ensure_future(_get(stores, wanted))))
            wanted, task = coming[0]
            piece = await task
            coming.popleft()
            held -= wanted.length
            if len(piece) != wanted.length:
                raise Unavailable(f"{wanted.key}: {len(piece)} bytes instead of {wanted.length}")
            yield piece
    finally:
        for _, task in coming:
            task.cancel()
        await asyncio.gather(*(task for _, task in coming), return_exceptions=True)


def _pieces(run: Sequence[Extent]) -> Iterator[Range]:
    ranges: list[Range] = []
    for extent in run:
        join(ranges, whole(extent))
    for one in ranges:
        if one.shift or one.data:
            yield one  # whole: its offsets are shifted, which needs whole batches
            continue
        for start in range(0, one.length, PIECE_BYTES):
            length = min(PIECE_BYTES, one.length - start)
            yield one.part(start, length, one.end_offset)


async def _get(stores: Stores, wanted: Range) -> Buffer:
    return await stores.retry(read, stores.objects, wanted)
