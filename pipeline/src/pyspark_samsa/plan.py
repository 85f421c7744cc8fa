"""Planning: from offsets to the extents that hold them."""

import asyncio
from bisect import bisect_left
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from samsa.log.read import OutOfRange
from samsa.ports import Aborted, Extent, Head, Partition, UnknownPartition

from .access import StoreAccess
from .losses import Losses
from .positions import TopicPartition
from .splits import Stretch

PAGE = 1_000
ANY_TIME = -1
PLANNED_BYTES = 8 * 1024 * 1024
"""The most bytes of a plan that come from the ledger. The plan is in the driver's memory and is
sent to the executors, which ask the ledger for the rest."""
AT_ONCE = 64
"""Partitions that are planned at the same time."""

T = TypeVar("T")


async def in_order(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results of all, some of which are awaited at the same time. If several fail, the first
    counts; none goes on afterwards."""
    room = asyncio.Semaphore(AT_ONCE)

    async def one(each: Coroutine[Any, Any, T]) -> T:
        async with room:
            return await each

    outcomes = await asyncio.gather(*map(one, work), return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]


class Planner:
    def __init__(
        self, access: StoreAccess, losses: Losses, inline_bytes: int, read_committed: bool
    ) -> None:
        """`inline_bytes`: what the plan may hold of the bytes that are in the ledger.
        `read_committed`: leave out what aborted transactions have written."""
        self._reader = access.log.reader
        self._losses = losses
        self._inline_left = inline_bytes
        self._read_committed = read_committed

    async def stretches(
        self,
        where: TopicPartition,
        partition: Partition,
        first: int,
        end: int,
        since: int = ANY_TIME,
        most_bytes: int | None = None,
        head: Head | None = None,
    ) -> list[Stretch]:
        """The extents of [first, end), without those that are empty, or older than wanted.

        Not many more than make up `most_bytes`. `head` saves reading it, and may be old. Raises
        DataLoss if the log no longer reaches back so far, and `failOnDataLoss` is set.
        """
        found: list[Stretch] = []
        offset, size = first, 0
        while offset < end and (most_bytes is None or size < most_bytes):
            try:
                head = head or await self._reader.head(partition)
                extents = await self._reader.extents_from(partition, offset, end, PAGE, head)
                aborted = await self._aborted(partition, offset, extents, head)
            except OutOfRange as error:
                self._losses.report(f"{where}: offset {offset} is gone; {error}")
                offset = error.log_start
                continue
            except UnknownPartition:
                self._losses.report(f"{where}: the topic was deleted")
                break
            found += [
                Stretch(
                    where,
                    partition.topic_id,
                    self._planned(extent),
                    max(offset, _begin(extent, since)),
                    end,
                    tuple(
                        one
                        for one in aborted
                        if one.first < extent.end and one.marker >= extent.base
                    ),
                )
                for extent in extents
                if extent.records != 0 and extent.max_timestamp >= since
            ]
            size += sum(extent.size for extent in extents)
            offset = extents[-1].end
        return found

    async def _aborted(
        self, partition: Partition, offset: int, extents: Sequence[Extent], head: Head
    ) -> Sequence[Aborted]:
        """Of those that are read from `offset` on. Raises OutOfRange."""
        if not self._read_committed or offset >= head.aborted_to:
            return ()
        return await self._reader.all_aborted(partition, offset, extents[-1].end, head)

    def _planned(self, extent: Extent) -> Extent:
        """The extent with its bytes from the ledger, as long as the plan has room for them."""
        if not extent.data:
            return extent
        self._inline_left -= len(extent.data)
        return extent if self._inline_left >= 0 else extent._replace(data=b"")


def _begin(extent: Extent, since: int) -> int:
    """The first offset in the extent that may be recent enough, by the times in its marks."""
    older = bisect_left(extent.times, since)
    return extent.base + (extent.marks[older - 1][0] if older else 0)
