"""Finds offsets by time: by the greatest timestamps of extents, then of marks, then in batches."""

from typing import NamedTuple, Protocol, TypeVar

from samsa.ports import Buffer, Extent, Head, Partition
from samsa.records.spans import at_once
from samsa.records.times import first_at_or_after, newest_from
from samsa.records.unpack import Making

from .extents import Range, read, sections
from .read import Reader
from .stores import Stores

T = TypeVar("T")


class Found(NamedTuple):
    offset: int
    timestamp: int


class Do(Protocol):
    """A way to do long work on records."""

    async def __call__(self, steps: Making[T]) -> T: ...


async def _here(steps: Making[T]) -> T:
    return at_once(steps)


class Times:
    def __init__(self, stores: Stores, reader: Reader) -> None:
        self._stores = stores
        self._reader = reader
        self.do: Do = _here
        """A server replaces it by one that does not block the event loop."""

    async def at(
        self, partition: Partition, timestamp: int, committed: bool = False
    ) -> Found | None:
        """The first visible record whose timestamp is `timestamp` or later; None if that record is
        not below the last stable offset and only `committed` ones are asked for."""
        head = await self._reader.head(partition)
        extent = await self._stores.ledger.extent_at_time(partition, timestamp)
        newer = [entry for entry in _tail(head) if entry.max_timestamp >= timestamp]
        if newer and (extent is None or newer[0].base < extent.base):
            extent = newer[0]
        while extent is not None:
            found = await self._first(extent, timestamp, head.log_start)
            if found is not None:
                return _visible(found, head, committed)
            # log_start lies inside this extent, and its matching record lies below log_start.
            extent = await self._next(partition, extent.end, timestamp, head)
        return None

    async def newest(self, partition: Partition, committed: bool = False) -> Found | None:
        """The first visible record with the greatest timestamp; `committed` as in `at`."""
        head = await self._reader.head(partition)
        found = await self._stores.ledger.newest_extent(partition)
        candidates = sorted([*([found] if found else []), *_tail(head)], key=lambda one: one.base)
        extent = max(candidates, key=lambda one: one.max_timestamp, default=None)
        if extent is None or extent.max_timestamp < 0:
            return None
        if extent.base >= head.log_start:
            first = await self._first(extent, extent.max_timestamp, 0)
            return _visible(first, head, committed)
        newest = await self._newest_from(extent, head.log_start)
        async for later in self._reader.extents(partition, extent.end, head):
            newest = max(newest, later.max_timestamp)
        return await self.at(partition, newest, committed) if newest >= 0 else None

    async def _first(
        self, extent: Extent, timestamp: int, start_offset: int
    ) -> tuple[int, int] | None:
        """Reads a segment section by section, from the first that may hold the time."""
        for section in sections(extent, timestamp):
            if section.end_offset > start_offset:
                data = await self._read(section)
                if found := await self.do(first_at_or_after(data, timestamp, start_offset)):
                    return found
        return None

    async def _newest_from(self, extent: Extent, start_offset: int) -> int:
        newest = -1
        for section in sections(extent, -1):
            if section.end_offset > start_offset:
                found = await self.do(newest_from(await self._read(section), start_offset))
                newest = max(newest, found)
        return newest

    async def _read(self, section: Range) -> Buffer:
        return await read(self._stores.objects, section)

    async def _next(
        self, partition: Partition, offset: int, timestamp: int, head: Head
    ) -> Extent | None:
        async for extent in self._reader.extents(partition, offset, head):
            if extent.max_timestamp >= timestamp:
                return extent
        return None


def _tail(head: Head) -> list[Extent]:
    """The tail without entries below log_start, which may stay there for a while."""
    return [entry for entry in head.tail if entry.end > head.log_start]


def _visible(found: tuple[int, int] | None, head: Head, committed: bool) -> Found | None:
    end = head.stable_end if committed else head.next_offset
    return Found(*found) if found is not None and found[0] < end else None
