"""DeleteRecords (key 21), versions 0-2."""

from __future__ import annotations

from samsa.wire.schema import INT16, INT32, INT64, STRING, Array, Field, Message, Struct

PARTITION = Struct(
    "DeleteRecordsPartition",
    Field("partition_index", INT32),
    Field("offset", INT64),
)
TOPIC = Struct(
    "DeleteRecordsTopic",
    Field("name", STRING),
    Array("partitions", PARTITION),
)
REQUEST = Message(
    "DeleteRecordsRequest",
    Array("topics", TOPIC),
    Field("timeout_ms", INT32),
    flexible_since=2,
)

PARTITION_RESPONSE = Struct(
    "DeleteRecordsPartitionResult",
    Field("partition_index", INT32),
    Field("low_watermark", INT64),
    Field("error_code", INT16),
)
TOPIC_RESPONSE = Struct(
    "DeleteRecordsTopicResult",
    Field("name", STRING),
    Array("partitions", PARTITION_RESPONSE),
)
RESPONSE = Message(
    "DeleteRecordsResponse",
    Field("throttle_time_ms", INT32),
    Array("topics", TOPIC_RESPONSE),
    flexible_since=2,
)
