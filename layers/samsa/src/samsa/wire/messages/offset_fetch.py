"""OffsetFetch (key 9), versions 0-10. From 8 on several groups are asked for at once.

Version 0 is gone from Kafka 4; it looks like version 1 and asked for offsets in ZooKeeper.
"""

from __future__ import annotations

from samsa.wire.schema import (
    BOOLEAN,
    INT16,
    INT32,
    INT64,
    STRING,
    UUID,
    Array,
    Field,
    Message,
    Struct,
)

TOPIC = Struct(
    "OffsetFetchRequestTopic",
    Field("name", STRING, until=7),
    Array("partition_indexes", INT32, until=7),
)
GROUP_TOPIC = Struct(
    "OffsetFetchRequestTopics",
    Field("name", STRING, since=8, until=9),
    Field("topic_id", UUID, since=10),
    Array("partition_indexes", INT32, since=8),
)
GROUP = Struct(
    "OffsetFetchRequestGroup",
    Field("group_id", STRING, since=8),
    Field("member_id", STRING, since=9, nullable=True, default=None),
    Field("member_epoch", INT32, since=9, default=-1),
    Array("topics", GROUP_TOPIC, since=8, nullable=True),
)
REQUEST = Message(
    "OffsetFetchRequest",
    Field("group_id", STRING, until=7),
    Array("topics", TOPIC, until=7, nullable_since=2),
    Array("groups", GROUP, since=8),
    Field("require_stable", BOOLEAN, since=7),
    flexible_since=6,
)

PARTITION_RESPONSE = Struct(
    "OffsetFetchResponsePartition",
    Field("partition_index", INT32, until=7),
    Field("committed_offset", INT64, until=7),
    Field("committed_leader_epoch", INT32, since=5, until=7, default=-1),
    Field("metadata", STRING, until=7, nullable=True),
    Field("error_code", INT16, until=7),
)
TOPIC_RESPONSE = Struct(
    "OffsetFetchResponseTopic",
    Field("name", STRING, until=7),
    Array("partitions", PARTITION_RESPONSE, until=7),
)
GROUP_PARTITION_RESPONSE = Struct(
    "OffsetFetchResponsePartitions",
    Field("partition_index", INT32, since=8),
    Field("committed_offset", INT64, since=8),
    Field("committed_leader_epoch", INT32, since=8, default=-1),
    Field("metadata", STRING, since=8, nullable=True),
    Field("error_code", INT16, since=8),
)
GROUP_TOPIC_RESPONSE = Struct(
    "OffsetFetchResponseTopics",
    Field("name", STRING, since=8, until=9),
    Field("topic_id", UUID, since=10),
    Array("partitions", GROUP_PARTITION_RESPONSE, since=8),
)
GROUP_RESPONSE = Struct(
    "OffsetFetchResponseGroup",
    Field("group_id", STRING, since=8),
    Array("topics", GROUP_TOPIC_RESPONSE, since=8),
    Field("error_code", INT16, since=8),
)
RESPONSE = Message(
    "OffsetFetchResponse",
    Field("throttle_time_ms", INT32, since=3),
    Array("topics", TOPIC_RESPONSE, until=7),
    Field("error_code", INT16, since=2, until=7),
    Array("groups", GROUP_RESPONSE, since=8),
    flexible_since=6,
)
