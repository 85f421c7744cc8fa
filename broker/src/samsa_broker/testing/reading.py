"""All records of a partition, as a consumer that reads from the beginning gets them."""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from samsa.ports import FileRange
from samsa.records.batch import headers
from samsa.records.control import commits
from samsa.records.record import records_in_steps
from samsa.records.unpack import Making
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import fetch

from .asking import LAST_BY_NAME, Asking, check
from .record import Record

READ_COMMITTED = 1
AT_ONCE = 4 * 1024 * 1024
SLICE = 128
"""Records in one slice of the thread that unpacks."""


async def read_all(asking: Asking, topic: str, number: int, committed: bool) -> list[Record]:
    found: list[Record] = []
    offset = 0
    while True:
        more, offset, is_end = await _read(asking, topic, number, offset, committed)
        found += more
        if is_end:
            return found


async def _read(
    asking: Asking, topic: str, number: int, offset: int, committed: bool
) -> tuple[list[Record], int, bool]:
    """Some records, the offset after them, and whether these are the last."""
    row = _request(topic, number, offset, committed)
    async with asking.answered(ApiKey.FETCH, row, LAST_BY_NAME) as answer:
        entry = answer.responses[0].partitions[0]
        if entry.error_code == ErrorCode.OFFSET_OUT_OF_RANGE and entry.log_start_offset > offset:
            return [], entry.log_start_offset, False
        check(entry.error_code, None, f"{topic}/{number}")
        end = entry.last_stable_offset if committed else entry.high_watermark
        limit = asking.broker.rules.work.max_made_bytes
        aborted = (entry.aborted_transactions or ()) if committed else ()
        steps = _unpacked(topic, number, entry.records or (), aborted, offset, limit)
        found, after = await asking.broker.unpacking.run(steps)
    return found, after, after >= end or after == offset


def _request(topic: str, number: int, offset: int, committed: bool) -> Any:
    entry = fetch.PARTITION(partition=number, fetch_offset=offset, partition_max_bytes=AT_ONCE)
    return fetch.REQUEST(
        max_wait_ms=0,
        min_bytes=1,
        max_bytes=AT_ONCE,
        isolation_level=READ_COMMITTED if committed else 0,
        topics=[fetch.TOPIC(topic=topic, partitions=[entry])],
    )


def _unpacked(
    topic: str,
    number: int,
    pieces: Iterable[Any],
    aborted: Sequence[Any],
    offset: int,
    limit: int,
) -> Making[tuple[list[Record], int]]:
    """Records, and the offset after them."""
    data = b"".join(p.read() if isinstance(p, FileRange) else p for p in pieces)
    found: list[Record] = []
    begins = sorted(aborted, key=attrgetter("first_offset"), reverse=True)
    aborting: set[int] = set()
    after = offset
    for position, header in headers(data):
        while begins and begins[-1].first_offset <= header.base_offset:
            aborting.add(begins.pop().producer_id)
        after = max(after, header.next_offset)
        if header.is_control:
            if not commits(data[position : position + header.size]):
                aborting.discard(header.producer_id)
            continue
        if header.is_transactional and header.producer_id in aborting:
            continue
        batch = yield from records_in_steps(data, position, limit)
        for index, one in enumerate(batch):
            if index % SLICE == 0:
                yield None
            if one.offset >= offset:
                found.append(Record(topic, number, *one))
    return found, after
