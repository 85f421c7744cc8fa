"""OffsetCommit (key 8), versions 0-10.

Versions 0 and 1 are gone from Kafka 4: 0 knows no members, 1 dates each offset itself.
"""

from __future__ import annotations

from samsa.wire.schema import INT16, INT32, INT64, STRING, UUID, Array, Field, Message, Struct

PARTITION = Struct(
    "OffsetCommitRequestPartition",
    Field("partition_index", INT32),
    Field("committed_offset", INT64),
    Field("committed_leader_epoch", INT32, since=6, default=-1),
    Field("commit_timestamp", INT64, since=1, until=1, default=-1),
    Field("committed_metadata", STRING, nullable=True),
)
TOPIC = Struct(
    "OffsetCommitRequestTopic",
    Field("name", STRING, until=9),
    Field("topic_id", UUID, since=10),
    Array("partitions", PARTITION),
)
REQUEST = Message(
    "OffsetCommitRequest",
    Field("group_id", STRING),
    Field("generation_id_or_member_epoch", INT32, since=1, default=-1),
    Field("member_id", STRING, since=1),
    Field("group_instance_id", STRING, since=7, nullable=True, default=None),
    Field("retention_time_ms", INT64, since=2, until=4, default=-1),
    Array("topics", TOPIC),
    flexible_since=8,
)

PARTITION_RESPONSE = Struct(
    "OffsetCommitResponsePartition",
    Field("partition_index", INT32),
    Field("error_code", INT16),
)
TOPIC_RESPONSE = Struct(
    "OffsetCommitResponseTopic",
    Field("name", STRING, until=9),
    Field("topic_id", UUID, since=10),
    Array("partitions", PARTITION_RESPONSE),
)
RESPONSE = Message(
    "OffsetCommitResponse",
    Field("throttle_time_ms", INT32, since=3),
    Array("topics", TOPIC_RESPONSE),
    flexible_since=8,
)
