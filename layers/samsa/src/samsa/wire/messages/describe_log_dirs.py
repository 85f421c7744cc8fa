"""DescribeLogDirs (key 35), versions 0-5."""

from __future__ import annotations

from samsa.wire.schema import BOOLEAN, INT16, INT32, INT64, STRING, Array, Field, Message, Struct

TOPIC = Struct(
    "DescribableLogDirTopic",
    Field("topic", STRING),
    Array("partitions", INT32),
)
REQUEST = Message(
    "DescribeLogDirsRequest",
    Array("topics", TOPIC, nullable=True),
    flexible_since=2,
)

PARTITION_RESPONSE = Struct(
    "DescribeLogDirsPartition",
    Field("partition_index", INT32),
    Field("partition_size", INT64),
    Field("offset_lag", INT64),
    Field("is_future_key", BOOLEAN),
)
TOPIC_RESPONSE = Struct(
    "DescribeLogDirsTopic",
    Field("name", STRING),
    Array("partitions", PARTITION_RESPONSE),
)
RESULT = Struct(
    "DescribeLogDirsResult",
    Field("error_code", INT16),
    Field("log_dir", STRING),
    Array("topics", TOPIC_RESPONSE),
    Field("total_bytes", INT64, since=4, default=-1),
    Field("usable_bytes", INT64, since=4, default=-1),
    Field("is_cordoned", BOOLEAN, since=5),
)
RESPONSE = Message(
    "DescribeLogDirsResponse",
    Field("throttle_time_ms", INT32),
    Field("error_code", INT16, since=3),
    Array("results", RESULT),
    flexible_since=2,
)
