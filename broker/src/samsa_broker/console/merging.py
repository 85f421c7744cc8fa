"""Records of several partitions in the order of time, read as far as an answer needs them.

Each partition is a lane, which reads a few records ahead. The lane whose next record is the oldest
(or, backwards, the newest) is taken from. A lane that has run dry reads on, until the budget of the
request is used up. Then the answer ends, and tells where each lane goes on.
"""

import heapq
from collections import deque
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from samsa.http_api.kafka_client import KafkaClient
from samsa.http_api.reading import FoundRecords, OffsetSpan, read_what_is_left
from samsa.records.record import Record

from .shown import shown_size, size_of

MOST_READ = 64 * 1024 * 1024
MOST_SHOWN = 8 * 1024 * 1024
"""Bytes that one answer reads, and that it shows."""
LONGEST_S = 5.0
FEWEST_AHEAD = 8
LEAST_BYTES, MOST_AT_ONCE = 64 * 1024, 1024 * 1024
GAP = 10_000
"""Offsets that a lane looks at going backwards, where there were no records."""


class Budget:
    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._until = now() + LONGEST_S
        self.left = MOST_READ

    @property
    def is_over(self) -> bool:
        return self.left <= 0 or self._now() >= self._until


@dataclass(slots=True)
class Lane:
    """One partition: what was read of it and not taken yet, and where it reads on."""

    number: int
    at: int
    limit: int
    """The end that it reads to; backwards, the start."""
    ahead: deque[Record] = field(default_factory=deque)
    transactional: set[int] = field(default_factory=set)

    @property
    def next_place(self) -> int | str | None:
        """As `positions.offsets` reads it; None: nothing will come."""
        return self.ahead[0].offset if self.ahead else self.at

    @property
    def is_at_end(self) -> bool:
        return self.at >= self.limit

    async def fill(self, source: "Source") -> None:
        """At least one record, unless there is none or the budget is over."""
        while not (self.ahead or self.is_at_end or source.budget.is_over):
            found = await source.read(self.number, self.at, source.at_once)
            self._keep(found, await source.wanted(found.records, self.at, self.limit))
            if found.next_offset <= self.at:
                return  # what follows is not committed yet
            self.at = found.next_offset

    def _keep(self, found: FoundRecords, wanted: Collection[Record]) -> None:
        self.ahead.extend(wanted)
        self.transactional = set(found.transactional)


class BackwardLane(Lane):
    __slots__ = ()

    @property
    def next_place(self) -> int | str | None:
        if self.ahead:
            return f"<{self.ahead[0].offset + 1}"
        return None if self.is_at_end else f"<{self.at}"

    @property
    def is_at_end(self) -> bool:
        return self.at <= self.limit

    async def fill(self, source: "Source") -> None:
        span = source.at_once
        while not (self.ahead or self.is_at_end or source.budget.is_over):
            first = at = max(self.limit, self.at - span)
            while at < self.at:
                found = await source.read(self.number, at, self.at - at)
                kept = await source.wanted(found.records, at, self.at)
                self.ahead.extendleft(kept)
                self.transactional |= found.transactional
                if found.next_offset <= at:
                    break
                at = found.next_offset
            self.at, span = first, min(GAP, 2 * span)


class Source(NamedTuple):
    """How the lanes of one request read."""

    topic: str
    kafka: KafkaClient
    budget: Budget
    at_once: int
    max_bytes: int
    key: bytes | None

    async def read(self, number: int, offset: int, limit: int) -> FoundRecords:
        span = OffsetSpan(offset, limit, self.max_bytes)
        found = await read_what_is_left(self.topic, number, span, self.kafka)
        self.budget.left -= max(1, sum(map(size_of, found.records)))
        return found

    async def wanted(self, records: Sequence[Record], first: int, end: int) -> list[Record]:
        return await self.kafka.work.in_slices(_chosen(records, first, end, self.key))


def _chosen(
    records: Sequence[Record], first: int, end: int, key: bytes | None
) -> Generator[None, None, list[Record]]:
    found = []
    for record in records:
        if first <= record.offset < end and (key is None or record.key == key):
            found.append(record)
        yield
    return found


class Taken(NamedTuple):
    records: list[tuple[int, Record, bool]]
    """The partition, the record, and whether it came in a transaction."""
    next_places: dict[int, int | str]


async def merged(
    lanes: Sequence[Lane], limit: int, topic: str, key: bytes | None, kafka: KafkaClient,
    now: Callable[[], float],
) -> Taken:  # fmt: skip
    """Up to `limit` records, newest first if the lanes go backwards."""
    source = _source(lanes, limit, topic, key, kafka, Budget(now))
    await kafka.work.some_at_once(lanes, partial(_fill, source))
    sign = -1 if lanes and isinstance(lanes[0], BackwardLane) else 1
    heap = [(sign * lane.ahead[0].timestamp, lane.number, lane) for lane in lanes if lane.ahead]
    heapq.heapify(heap)
    taken: list[tuple[int, Record, bool]] = []
    room = MOST_SHOWN
    async for _ in kafka.work.pace(range(limit)):
        if not heap or room <= 0:
            break
        _, number, lane = heapq.heappop(heap)
        record = lane.ahead.popleft()
        taken.append((number, record, record.offset in lane.transactional))
        room -= shown_size(record)
        await lane.fill(source)
        if lane.ahead:
            heapq.heappush(heap, (sign * lane.ahead[0].timestamp, number, lane))
        elif not lane.is_at_end:
            break  # what it has next may come before all others
    places = {lane.number: lane.next_place for lane in lanes}
    return Taken(taken, {n: place for n, place in places.items() if place is not None})


async def _fill(source: Source, lane: Lane) -> None:
    await lane.fill(source)


def _source(
    lanes: Sequence[Lane], limit: int, topic: str, key: bytes | None, kafka: KafkaClient,
    budget: Budget,
) -> Source:  # fmt: skip
    count = max(1, len(lanes))
    ahead = max(FEWEST_AHEAD, min(limit, 2 * limit // count))
    if key is not None:
        ahead = 10_000
    max_bytes = max(LEAST_BYTES, min(MOST_AT_ONCE, MOST_SHOWN // count))
    return Source(topic, kafka, budget, ahead, max_bytes, key)
