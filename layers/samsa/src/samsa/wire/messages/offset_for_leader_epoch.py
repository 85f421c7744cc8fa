"""OffsetForLeaderEpoch (key 23), versions 0-4."""

from __future__ import annotations

from samsa.wire.schema import INT16, INT32, INT64, STRING, Array, Field, Message, Struct

PARTITION = Struct(
    "OffsetForLeaderPartition",
    Field("partition", INT32),
    Field("current_leader_epoch", INT32, since=2, default=-1),
    Field("leader_epoch", INT32),
)
TOPIC = Struct(
    "OffsetForLeaderTopic",
    Field("topic", STRING),
    Array("partitions", PARTITION),
)
REQUEST = Message(
    "OffsetForLeaderEpochRequest",
    Field("replica_id", INT32, since=3, default=-2),
    Array("topics", TOPIC),
    flexible_since=4,
)

PARTITION_RESPONSE = Struct(
    "EpochEndOffset",
    Field("error_code", INT16),
    Field("partition", INT32),
    Field("leader_epoch", INT32, since=1, default=-1),
    Field("end_offset", INT64, default=-1),
)
TOPIC_RESPONSE = Struct(
    "OffsetForLeaderTopicResult",
    Field("topic", STRING),
    Array("partitions", PARTITION_RESPONSE),
)
RESPONSE = Message(
    "OffsetForLeaderEpochResponse",
    Field("throttle_time_ms", INT32, since=2),
    Array("topics", TOPIC_RESPONSE),
    flexible_since=4,
)
