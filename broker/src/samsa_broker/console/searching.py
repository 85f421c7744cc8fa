"""A search: reads what it is told to, a megabyte at a time, and sends what matches.

It ends at the end, at its limit, or when its budget is used up; then it says where to go on.
Partitions take turns. Reading and matching run off the event loop, in slices.
"""

from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple

from samsa.http_api.kafka_client import KafkaClient
from samsa.http_api.reading import FoundRecords, OffsetSpan, read_what_is_left

from .lines import Tell
from .matching import Matcher
from .shown import Shower, size_of

MOST_BYTES = 1024 * 1024 * 1024
LONGEST_S = 60.0
CHUNK = OffsetSpan(0, 10_000, 1024 * 1024)
PROGRESS_S = 1.0


class Looked(NamedTuple):
    found: list[Any]
    searched: int
    size: int
    next_offset: int


class Search:
    def __init__(
        self,
        topic: str,
        match: Matcher,
        shower: Shower,
        limit: int,
        first: Mapping[int, int],
        last: Mapping[int, int],
        kafka: KafkaClient,
        now: Callable[[], float],
    ) -> None:
        self._topic = topic
        self._match = match
        self._shower = shower
        self._left = limit
        self._at = dict(first)
        self._to = last
        self._kafka = kafka
        self._now = now
        self._of = sum(max(0, last[number] - at) for number, at in first.items())
        self._searched = self._bytes = self._found = 0

    async def run(self, tell: Tell) -> None:
        began = told_at = self._now()
        why = "end"
        await tell([self._progress()])
        while open_ones := [n for n, at in self._at.items() if at < self._to[n]]:
            for number in open_ones:
                if self._bytes >= MOST_BYTES or self._now() - began >= LONGEST_S:
                    why = "budget"
                elif not self._left:
                    why = "limit"
                else:
                    await self._look(number, tell)
                if self._now() - told_at >= PROGRESS_S:
                    told_at = self._now()
                    await tell([self._progress()])
            if why != "end":
                break
        await tell([self._done("limit" if why == "end" and not self._left else why)])

    async def _look(self, number: int, tell: Tell) -> None:
        begin, end = self._at[number], self._to[number]
        found = await read_what_is_left(
            self._topic, number, CHUNK._replace(offset=begin), self._kafka
        )
        shower = await self._shower.knowing(found.records, self._kafka)
        looked = await self._kafka.work.in_slices(self._chosen(number, found, end, shower))
        self._searched += looked.searched
        self._bytes += looked.size
        self._found += len(looked.found)
        self._left -= len(looked.found)
        is_stuck = looked.next_offset <= begin  # what follows is not committed any more
        self._at[number] = end if is_stuck else looked.next_offset
        if looked.found:
            await tell(looked.found)

    def _chosen(
        self, number: int, found: FoundRecords, end: int, shower: Shower
    ) -> Generator[None, None, Looked]:
        told: list[Any] = []
        searched = size = 0
        for record in found.records:
            if record.offset >= end:
                break
            searched += 1
            size += size_of(record)
            if (yield from self._match.finds(record)):
                is_transactional = record.offset in found.transactional
                told.append({"record": shower.record(number, record, is_transactional)})
                if len(told) == self._left:
                    return Looked(told, searched, size, record.offset + 1)
            yield
        return Looked(told, searched, size, found.next_offset)

    def _progress(self) -> Any:
        told = {"searched": self._searched, "bytes": self._bytes, "of": self._of, "at": self._at}
        return {"progress": told}

    def _done(self, why: str) -> Any:
        told = {"searched": self._searched, "found": self._found, "why": why, "at": self._at}
        return {"done": told}
