"""ListOffsets (key 2), versions 0-11.

Version 0 is gone from Kafka 4: it asks for up to `max_num_offsets` and is answered by a list.
"""

from __future__ import annotations

from samsa.wire.schema import INT8, INT16, INT32, INT64, STRING, Array, Field, Message, Struct

PARTITION = Struct(
    "ListOffsetsPartition",
    Field("partition_index", INT32),
    Field("current_leader_epoch", INT32, since=4, default=-1),
    Field("timestamp", INT64),
    Field("max_num_offsets", INT32, until=0, default=1),
)
TOPIC = Struct(
    "ListOffsetsTopic",
    Field("name", STRING),
    Array("partitions", PARTITION),
)
REQUEST = Message(
    "ListOffsetsRequest",
    Field("replica_id", INT32),
    Field("isolation_level", INT8, since=2),
    Array("topics", TOPIC),
    Field("timeout_ms", INT32, since=10),
    flexible_since=6,
)

PARTITION_RESPONSE = Struct(
    "ListOffsetsPartitionResponse",
    Field("partition_index", INT32),
    Field("error_code", INT16),
    Array("old_style_offsets", INT64, until=0),
    Field("timestamp", INT64, since=1, default=-1),
    Field("offset", INT64, since=1, default=-1),
    Field("leader_epoch", INT32, since=4, default=-1),
)
TOPIC_RESPONSE = Struct(
    "ListOffsetsTopicResponse",
    Field("name", STRING),
    Array("partitions", PARTITION_RESPONSE),
)
RESPONSE = Message(
    "ListOffsetsResponse",
    Field("throttle_time_ms", INT32, since=2),
    Array("topics", TOPIC_RESPONSE),
    flexible_since=6,
)
