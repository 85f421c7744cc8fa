"""A live tail: records from the end on, as they come.

A client that reads slowly, or a topic that is written faster than a page can show, is not
followed record by record: what is too far behind is skipped, and counted. Nothing is kept for a
client beyond the lines of one fetch.
"""

import asyncio
from collections.abc import Generator
from typing import Any

from samsa.http_api.kafka_client import KafkaClient
from samsa.http_api.reading import FoundRecords, OffsetSpan, poll, within_log
from samsa.topics.configs import Refused
from samsa.wire.errors import ErrorCode

from .lines import Tell
from .positions import Reading
from .shown import Shower

PING_S = 5.0
PING_MS = 5_000
AT_ONCE = OffsetSpan(0, 200, 1024 * 1024, PING_MS)
"""Of one fetch: records of a partition, bytes of all, and how long it waits for them."""
REST_S = 0.1
"""Between two fetches that found records: a page cannot show more."""
NO_WAIT_S = 0.5
MOST_BEHIND, KEPT = 1_000, 100
"""A partition that is further behind goes on so many records before its end."""


async def follow(read: Reading, shower: Shower, kafka: KafkaClient, tell: Tell) -> None:
    at = dict(read.ends)
    now = asyncio.get_running_loop().time
    pinged = now()
    await tell([{"ping": kafka.now_ms()}])
    while True:
        with kafka.waiting(PING_MS) as wait_ms:
            found = await _poll(read.topic.name, at, wait_ms, kafka)
        records = [record for each in found.values() for record in each.records]
        lines = await kafka.work.in_slices(_lines(found, await shower.knowing(records, kafka)))
        at = _turned(at)
        if skipped := _go_on(at, found):
            lines.append({"skipped": skipped})
        if now() - pinged >= PING_S or (wait_ms and not lines):
            pinged = now()
            lines.append({"ping": kafka.now_ms()})
        if lines:
            await tell(lines)
        await asyncio.sleep(REST_S if wait_ms else NO_WAIT_S)


async def _poll(
    topic: str, at: dict[int, int], wait_ms: int, kafka: KafkaClient
) -> dict[int, FoundRecords]:
    span = AT_ONCE._replace(wait_ms=wait_ms)
    try:
        return await poll(topic, at, span, kafka)
    except Refused as refused:
        if refused.code is not ErrorCode.OFFSET_OUT_OF_RANGE:
            raise
    at.update(await within_log(topic, at, kafka))
    return await poll(topic, at, span._replace(wait_ms=0), kafka)


def _turned(at: dict[int, int]) -> dict[int, int]:
    """With another partition first: what one fetch has no room for is there in the next."""
    first, *others = at.items()
    return dict([*others, first])


def _go_on(at: dict[int, int], found: dict[int, FoundRecords]) -> int:
    """Move on to where the next fetch begins. How many offsets that skips."""
    skipped = 0
    for number, each in found.items():
        behind = each.end - each.next_offset
        skip = behind - KEPT if behind > MOST_BEHIND else 0
        at[number] = each.next_offset + skip
        skipped += skip
    return skipped


def _lines(found: dict[int, FoundRecords], shower: Shower) -> Generator[None, None, list[Any]]:
    told = []
    for number, each in found.items():
        for record in each.records:
            is_transactional = record.offset in each.transactional
            told.append((record.timestamp, shower.record(number, record, is_transactional)))
            yield
    told.sort(key=lambda one: one[0])
    return [{"record": record} for _, record in told]
