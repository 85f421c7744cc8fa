"""A group's offsets, as those ask for them and set them who are no members of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from samsa.wire.messages import offset_commit, offset_fetch

LAST_BY_NAME = 9
"""OffsetFetch and OffsetCommit name topics up to this version, and have ids instead after it."""
Where: TypeAlias = tuple[str, int]
"""A topic's name and a partition's number."""


def fetch_request(group: str) -> Any:
    """For all that the group has committed."""
    return offset_fetch.REQUEST(groups=[offset_fetch.GROUP(group_id=group, topics=None)])


def fetched(group: Any) -> dict[Where, int]:
    """What the answer says about one group."""
    return {
        (topic.name, partition.partition_index): partition.committed_offset
        for topic in group.topics
        for partition in topic.partitions
    }


def commit_request(group: str, offsets: Mapping[Where, int]) -> Any:
    topics: dict[str, list[object]] = {}
    for (topic, number), offset in offsets.items():
        row = offset_commit.PARTITION(
            partition_index=number, committed_offset=offset, committed_metadata=""
        )
        topics.setdefault(topic, []).append(row)
    rows = [offset_commit.TOPIC(name=name, partitions=rows) for name, rows in topics.items()]
    return offset_commit.REQUEST(group_id=group, topics=rows)
