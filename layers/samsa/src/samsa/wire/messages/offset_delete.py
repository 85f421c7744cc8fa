"""OffsetDelete (key 47), version 0."""

from __future__ import annotations

from samsa.wire.schema import INT16, INT32, STRING, Array, Field, Message, Struct

PARTITION = Struct(
    "OffsetDeleteRequestPartition",
    Field("partition_index", INT32),
)
TOPIC = Struct(
    "OffsetDeleteRequestTopic",
    Field("name", STRING),
    Array("partitions", PARTITION),
)
REQUEST = Message(
    "OffsetDeleteRequest",
    Field("group_id", STRING),
    Array("topics", TOPIC),
    flexible_since=1,  # There is no version 1.
)

PARTITION_RESPONSE = Struct(
    "OffsetDeleteResponsePartition",
    Field("partition_index", INT32),
    Field("error_code", INT16),
)
TOPIC_RESPONSE = Struct(
    "OffsetDeleteResponseTopic",
    Field("name", STRING),
    Array("partitions", PARTITION_RESPONSE),
)
RESPONSE = Message(
    "OffsetDeleteResponse",
    Field("error_code", INT16),
    Field("throttle_time_ms", INT32),
    Array("topics", TOPIC_RESPONSE),
    flexible_since=1,
)
