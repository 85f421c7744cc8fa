"""Reads committed records from a partition's batches, as many as were asked for.

A fetch returns whole batches. Records before the offset, and records above the limits, are left
out. Batches are unpacked off the event loop, in slices.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from samsa.ports import FileRange
from samsa.records.batch import headers
from samsa.records.control import commits
from samsa.records.record import Record, records_in_steps
from samsa.records.unpack import Making
from samsa.wire.apis import ApiKey
from samsa.wire.messages import fetch

from .kafka_client import InProcessClient, check

LAST_BY_NAME = 12
READ_COMMITTED = 1
SLICE = 128
"""Records in one slice."""


class OffsetSpan(NamedTuple):
    offset: int
    limit: int
    max_bytes: int
    wait_ms: int = 0


class FoundRecords(NamedTuple):
    start: int
    end: int
    records: list[Record]
    next_offset: int
    """The offset to read on from."""


async def read(topic: str, number: int, span: OffsetSpan, kafka: InProcessClient) -> FoundRecords:
    """Finds at least one record, unless there is none. Raises Refused."""
    while True:
        with kafka.waiting(span.wait_ms) as wait_ms:
            allowed = span._replace(wait_ms=wait_ms)
            found = await _read_once(topic, number, allowed, kafka)
        # Filler takes offsets and holds no records.
        if found.records or found.next_offset >= found.end or found.next_offset == span.offset:
            return found
        span = span._replace(offset=found.next_offset, wait_ms=0)


async def _read_once(
    topic: str, number: int, span: OffsetSpan, kafka: InProcessClient
) -> FoundRecords:
    row = _request(topic, number, span)
    async with kafka.answered(ApiKey.FETCH, row, LAST_BY_NAME) as answer:
        entry = answer.responses[0].partitions[0]
        start, end = entry.log_start_offset, _end(entry)
        check(entry.error_code, _why(entry, span), f"{topic}/{number}")
        limit = kafka.broker.rules.work.max_made_bytes
        steps = _unpacked(entry.records, entry.aborted_transactions or (), span, limit)
        taken, after = await kafka.broker.unpacking.run(steps)
    return FoundRecords(start, end, taken, after)


def _request(topic: str, number: int, span: OffsetSpan) -> Any:
    entry = fetch.PARTITION(
        partition=number, fetch_offset=span.offset, partition_max_bytes=span.max_bytes
    )
    return fetch.REQUEST(
        max_wait_ms=span.wait_ms,
        min_bytes=1,
        max_bytes=span.max_bytes,
        isolation_level=READ_COMMITTED,
        topics=[fetch.TOPIC(topic=topic, partitions=[entry])],
    )


def _why(entry: Any, span: OffsetSpan) -> str | None:
    if entry.high_watermark < 0:
        return None
    bounds = f"[{entry.log_start_offset}, {entry.high_watermark})"
    return f"offset {span.offset} is outside of the log, which is {bounds}"


def _end(entry: Any) -> int:
    """Of what may be read. A refused read has no stable offset."""
    return int(entry.last_stable_offset if entry.last_stable_offset >= 0 else entry.high_watermark)


def _unpacked(
    pieces: Iterable[Any], aborted: Sequence[Any], span: OffsetSpan, limit: int
) -> Making[tuple[list[Record], int]]:
    """Records, and the offset after them. Raises RecordError."""
    data = b"".join(p.read() if isinstance(p, FileRange) else p for p in pieces)
    taken: list[Record] = []
    left, after = span.max_bytes, span.offset
    begins = sorted(aborted, key=attrgetter("first_offset"), reverse=True)
    aborting: set[int] = set()
    for position, header in headers(data):
        while begins and begins[-1].first_offset <= header.base_offset:
            aborting.add(begins.pop().producer_id)
        if header.is_control:
            if not commits(data[position : position + header.size]):
                aborting.discard(header.producer_id)
            after = max(after, header.next_offset)
            continue
        if header.is_transactional and header.producer_id in aborting:
            after = max(after, header.next_offset)
            continue
        found = yield from records_in_steps(data, position, limit)
        for number, record in enumerate(found):
            if number % SLICE == 0:
                yield None
            if record.offset < span.offset:
                continue
            left -= _size(record)
            if len(taken) == span.limit or (taken and left < 0):
                return taken, after
            taken.append(record)
            after = record.offset + 1
        after = max(after, header.next_offset)
    return taken, after


def _size(record: Record) -> int:
    rest = sum(len(name) + len(value or b"") for name, value in record.headers)
    return len(record.key or b"") + len(record.value or b"") + rest
