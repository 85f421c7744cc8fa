"""Partitions that a member has, by topic."""

from collections.abc import Iterable
from uuid import UUID

from samsa.broker.work import Work


async def by_topic(
    partitions: Iterable[tuple[UUID, int]], work: Work
) -> list[tuple[UUID, list[int]]]:
    """Sorted by topic, then number. Pairs are not sorted: comparing two UUIDs is slow, and there
    may be very many pairs."""
    topics: dict[UUID, list[int]] = {}
    async for topic_id, number in work.pace(partitions):
        topics.setdefault(topic_id, []).append(number)
    found = sorted(topics.items(), key=lambda item: item[0].int)
    async for _, numbers in work.pace(found):
        numbers.sort()
    return found
