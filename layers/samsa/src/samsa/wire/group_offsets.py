"""Requests for a group's offsets from non-members (admin tools): fetch and commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from samsa.wire.messages import offset_commit, offset_fetch

LAST_BY_NAME = 9
"""Up to this version OffsetFetch and OffsetCommit have topic names; after it, topic ids."""
Where: TypeAlias = tuple[str, int]
"""A topic's name and a partition's number."""


def fetch_request(group: str) -> offset_fetch.OffsetFetchRequest:
    """Asks for all offsets that the group has committed."""
    return offset_fetch.REQUEST(groups=[offset_fetch.GROUP(group_id=group, topics=None)])


def fetched(group: offset_fetch.OffsetFetchResponseGroup) -> dict[Where, int]:
    """The offsets of one group in the response."""
    return {
        (topic.name, partition.partition_index): partition.committed_offset
        for topic in group.topics
        for partition in topic.partitions
    }


def commit_request(group: str, offsets: Mapping[Where, int]) -> offset_commit.OffsetCommitRequest:
    topics: dict[str, list[offset_commit.OffsetCommitRequestPartition]] = {}
    for (topic, number), offset in offsets.items():
        row = offset_commit.PARTITION(
            partition_index=number, committed_offset=offset, committed_metadata=""
        )
        topics.setdefault(topic, []).append(row)
    rows = [offset_commit.TOPIC(name=name, partitions=rows) for name, rows in topics.items()]
    return offset_commit.REQUEST(group_id=group, topics=rows)
