"""Looks up offsets that groups have committed, and where the partitions begin and end."""

from collections.abc import Iterable
from typing import Any

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.group_offsets import LAST_BY_NAME, Where, fetch_request, fetched
from samsa.wire.messages import list_offsets

from .kafka_client import KafkaClient, check

LATEST, EARLIEST = -1, -2


async def committed(group: str, kafka: KafkaClient) -> dict[Where, int]:
    row = fetch_request(group)
    (answer,) = (await kafka.ask(ApiKey.OFFSET_FETCH, row, LAST_BY_NAME)).groups
    check(answer.error_code, None, f"group {group!r}")
    return fetched(answer)


async def ends_of(wanted: Iterable[Where], kafka: KafkaClient) -> dict[Where, int | None]:
    """The end of each partition; None if the partition does not exist any more."""
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
    topic: str, numbers: Iterable[int], timestamp: int, kafka: KafkaClient
) -> dict[int, int]:
    """By partition; −1 if it has no record that is as young as that. Raises Refused."""
    found = {}
    for entry in await _entries(topic, numbers, timestamp, kafka):
        check(entry.error_code, None, f"{topic}/{entry.partition_index}")
        found[entry.partition_index] = entry.offset
    return found


async def _entries(
    topic: str, numbers: Iterable[int], timestamp: int, kafka: KafkaClient
) -> list[Any]:
    asked = [list_offsets.PARTITION(partition_index=n, timestamp=timestamp) for n in numbers]
    row = list_offsets.REQUEST(
        replica_id=-1, topics=[list_offsets.TOPIC(name=topic, partitions=asked)]
    )
    entries: list[Any] = (await kafka.ask(ApiKey.LIST_OFFSETS, row)).topics[0].partitions
    return entries
