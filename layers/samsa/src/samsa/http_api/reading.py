"""Reads committed records from a partition's batches, as many as were asked for.

A fetch returns whole batches. Records before the offset, and records above the limits, are left
out. Batches are unpacked off the event loop, in slices.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from operator import attrgetter
from typing import Any, NamedTuple

from samsa.ports import FileRange
from samsa.records.batch import headers
from samsa.records.control import commits
from samsa.records.header import LOG_OVERHEAD, BatchHeader
from samsa.records.record import Record, records_in_steps
from samsa.records.unpack import Making
from samsa.topics.configs import Refused
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import fetch

from .kafka_client import KafkaClient, check

LAST_BY_NAME = 12
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
SLICE = 128
"""Records in one slice."""


class OffsetSpan(NamedTuple):
    offset: int
    limit: int
    max_bytes: int
    wait_ms: int = 0
    isolation: int = READ_COMMITTED


class FoundRecords(NamedTuple):
    start: int
    end: int
    records: list[Record]
    next_offset: int
    """The offset to read on from."""
    transactional: Set[int] = frozenset()
    """The offsets of those that came in a transaction."""


async def read(topic: str, number: int, span: OffsetSpan, kafka: KafkaClient) -> FoundRecords:
    """Finds at least one record, unless there is none. Raises Refused."""
    while True:
        with kafka.waiting(span.wait_ms) as wait_ms:
            allowed = span._replace(wait_ms=wait_ms)
            found = await _read_once(topic, number, allowed, kafka)
        # Filler takes offsets and holds no records.
        if found.records or found.next_offset >= found.end or found.next_offset == span.offset:
            return found
        span = span._replace(offset=found.next_offset, wait_ms=0)


async def read_what_is_left(
    topic: str, number: int, span: OffsetSpan, kafka: KafkaClient
) -> FoundRecords:
    """As `read`; from the log's start, if retention has moved it beyond the offset meanwhile."""
    try:
        return await read(topic, number, span, kafka)
    except Refused as refused:
        if refused.code is not ErrorCode.OFFSET_OUT_OF_RANGE:
            raise
    at = await within_log(topic, {number: span.offset}, kafka)
    return await read(topic, number, span._replace(offset=at[number]), kafka)


async def within_log(topic: str, offsets: Mapping[int, int], kafka: KafkaClient) -> dict[int, int]:
    """The same offsets, but none below its log's start."""
    bounds = await kafka.bounds(await kafka.topic(topic), list(offsets))
    return {number: max(at, bounds[number].start) for number, at in offsets.items()}


async def _read_once(topic: str, number: int, span: OffsetSpan, kafka: KafkaClient) -> FoundRecords:
    found = await poll(topic, {number: span.offset}, span, kafka)
    return found[number]


async def poll(
    topic: str, offsets: Mapping[int, int], span: OffsetSpan, kafka: KafkaClient
) -> dict[int, FoundRecords]:
    """One fetch from several partitions, each from its offset on; the limits of `span` are for each
    of them, and its bytes for all together too. Raises Refused."""
    row = _request(topic, offsets, span)
    limit, left, found = kafka.work.limits.max_made_bytes, span.max_bytes, {}
    async with kafka.answered(ApiKey.FETCH, row, LAST_BY_NAME) as answer:
        check(answer.error_code, None, f"topic {topic!r}")
        for entry in answer.responses[0].partitions:
            number = entry.partition_index
            its = span._replace(offset=offsets[number], max_bytes=left)
            check(entry.error_code, _why(entry, its), f"{topic}/{number}")
            if left <= 0:  # compressed, they were less
                start, end = entry.log_start_offset, _end(entry, its)
                found[number] = FoundRecords(start, end, [], offsets[number])
                continue
            steps = _unpacked(entry.records, entry.aborted_transactions or (), its, limit)
            taken, after, transactional, left = await kafka.unpacking.run(steps)
            start, end = entry.log_start_offset, _end(entry, its)
            found[number] = FoundRecords(start, end, taken, after, transactional)
    return found


def _request(topic: str, offsets: Mapping[int, int], span: OffsetSpan) -> Any:
    entries = [
        fetch.PARTITION(partition=number, fetch_offset=offset, partition_max_bytes=span.max_bytes)
        for number, offset in offsets.items()
    ]
    return fetch.REQUEST(
        max_wait_ms=span.wait_ms,
        min_bytes=1,
        max_bytes=span.max_bytes,
        isolation_level=span.isolation,
        topics=[fetch.TOPIC(topic=topic, partitions=entries)],
    )


def _why(entry: Any, span: OffsetSpan) -> str | None:
    if entry.high_watermark < 0:
        return None
    bounds = f"[{entry.log_start_offset}, {entry.high_watermark})"
    return f"offset {span.offset} is outside of the log, which is {bounds}"


def _end(entry: Any, span: OffsetSpan) -> int:
    """Of what may be read. A refused read has no stable offset."""
    is_stable = span.isolation == READ_COMMITTED and entry.last_stable_offset >= 0
    return int(entry.last_stable_offset if is_stable else entry.high_watermark)


def _unpacked(
    pieces: Any, aborted: Sequence[Any], span: OffsetSpan, limit: int
) -> Making[tuple[list[Record], int, set[int], int]]:
    """Records, the offset after them, which came in a transaction, and how many bytes they leave of
    the limit. Raises RecordError."""
    data = b"".join(_bytes_of(pieces))
    taken: list[Record] = []
    transactional: set[int] = set()
    left, after = span.max_bytes, span.offset
    begins = sorted(aborted, key=attrgetter("first_offset"), reverse=True)
    aborting: set[int] = set()
    for position, header in headers(data):
        while begins and begins[-1].first_offset <= header.base_offset:
            aborting.add(begins.pop().producer_id)
        if not _has_records(header, data[position : position + header.size], aborting):
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
                return taken, after, transactional, max(0, left)
            taken.append(record)
            if header.is_transactional:
                transactional.add(record.offset)
            after = record.offset + 1
        after = max(after, header.next_offset)
    return taken, after, transactional, max(0, left)


def _has_records(header: BatchHeader, batch: bytes, aborting: set[int]) -> bool:
    """Whether a reader gets its records. A marker ends what its producer had open."""
    if header.is_control:
        if not commits(batch):
            aborting.discard(header.producer_id)
        return False
    return not (header.is_transactional and header.producer_id in aborting)


def _bytes_of(pieces: Any) -> Iterator[Any]:
    """Of an answer in this process, which has pieces, or of one that came by TCP."""
    if pieces is None:
        return
    if isinstance(pieces, bytes | memoryview):
        yield _whole_batches(pieces)
        return
    for each in pieces:
        yield each.read() if isinstance(each, FileRange) else each


def _whole_batches(data: bytes | memoryview) -> bytes | memoryview:
    """Other brokers cut the last batch of an answer."""
    end = 0
    while end + LOG_OVERHEAD <= len(data):
        size = LOG_OVERHEAD + int.from_bytes(data[end + 8 : end + LOG_OVERHEAD], "big", signed=True)
        if size <= LOG_OVERHEAD or end + size > len(data):
            break
        end += size
    return data[:end]


def _size(record: Record) -> int:
    rest = sum(len(name) + len(value or b"") for name, value in record.headers)
    return len(record.key or b"") + len(record.value or b"") + rest
