"""Offsets that groups have committed, and where the partitions begin and end."""

from collections.abc import Iterable
from typing import Any, TypeAlias

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import list_offsets, offset_fetch

from .asking import Kafka, check

LAST_BY_NAME = 9
"""OffsetFetch and OffsetCommit name topics up to this version, and have ids instead after it."""
LATEST, EARLIEST = -1, -2
Where: TypeAlias = tuple[str, int]


async def committed(group: str, kafka: Kafka) -> dict[Where, int]:
    asked = offset_fetch.GROUP(group_id=group, topics=None)
    row = offset_fetch.REQUEST(groups=[asked])
    answer = (await kafka.ask(ApiKey.OFFSET_FETCH, row, LAST_BY_NAME)).groups[0]
    check(answer.error_code, None, f"group {group!r}")
    return {
        (topic.name, partition.partition_index): partition.committed_offset
        for topic in answer.topics
        for partition in topic.partitions
    }


async def ends_of(wanted: Iterable[Where], kafka: Kafka) -> dict[Where, int | None]:
    """None where there is no such partition any more."""
    topics: dict[str, list[int]] = {}
    for topic, number in wanted:
        topics.setdefault(topic, []).append(number)
    found: dict[Where, int | None] = {}
    for topic, numbers in topics.items():
        for entry in await _entries(topic, numbers, LATEST, kafka):
            where = topic, entry.partition_index
            found[where] = entry.offset if _there(entry.error_code, where) else None
    return found


def _there(code: int, where: Where) -> bool:
    if code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        return False
    check(code, None, f"{where[0]}/{where[1]}")
    return True


async def offsets_at(
    topic: str, numbers: Iterable[int], timestamp: int, kafka: Kafka
) -> dict[int, int]:
    """By partition; −1 where no record is as young as that. Raises Refused."""
    found = {}
    for entry in await _entries(topic, numbers, timestamp, kafka):
        check(entry.error_code, None, f"{topic}/{entry.partition_index}")
        found[entry.partition_index] = entry.offset
    return found


async def _entries(topic: str, numbers: Iterable[int], timestamp: int, kafka: Kafka) -> list[Any]:
    asked = [list_offsets.PARTITION(partition_index=n, timestamp=timestamp) for n in numbers]
    row = list_offsets.REQUEST(
        replica_id=-1, topics=[list_offsets.TOPIC(name=topic, partitions=asked)]
    )
    entries: list[Any] = (await kafka.ask(ApiKey.LIST_OFFSETS, row)).topics[0].partitions
    return entries
