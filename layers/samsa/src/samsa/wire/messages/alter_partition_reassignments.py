"""AlterPartitionReassignments (key 45), versions 0-1."""

from __future__ import annotations

from samsa.wire.schema import BOOLEAN, INT16, INT32, STRING, Array, Field, Message, Struct

PARTITION = Struct(
    "ReassignablePartition",
    Field("partition_index", INT32),
    Array("replicas", INT32, nullable=True, default=None),
)
TOPIC = Struct(
    "ReassignableTopic",
    Field("name", STRING),
    Array("partitions", PARTITION),
)
REQUEST = Message(
    "AlterPartitionReassignmentsRequest",
    Field("timeout_ms", INT32, default=60_000),
    Field("allow_replication_factor_change", BOOLEAN, since=1, default=True),
    Array("topics", TOPIC),
    flexible_since=0,
)

PARTITION_RESPONSE = Struct(
    "ReassignablePartitionResponse",
    Field("partition_index", INT32),
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True),
)
TOPIC_RESPONSE = Struct(
    "ReassignableTopicResponse",
    Field("name", STRING),
    Array("partitions", PARTITION_RESPONSE),
)
RESPONSE = Message(
    "AlterPartitionReassignmentsResponse",
    Field("throttle_time_ms", INT32),
    Field("allow_replication_factor_change", BOOLEAN, since=1, default=True),
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True),
    Array("responses", TOPIC_RESPONSE),
    flexible_since=0,
)
