"""CreatePartitions (key 37), versions 0-3."""

from __future__ import annotations

from samsa.wire.schema import BOOLEAN, INT16, INT32, STRING, Array, Field, Message, Struct

ASSIGNMENT = Struct(
    "CreatePartitionsAssignment",
    Array("broker_ids", INT32),
)
TOPIC = Struct(
    "CreatePartitionsTopic",
    Field("name", STRING),
    Field("count", INT32),
    Array("assignments", ASSIGNMENT, nullable=True),
)
REQUEST = Message(
    "CreatePartitionsRequest",
    Array("topics", TOPIC),
    Field("timeout_ms", INT32),
    Field("validate_only", BOOLEAN),
    flexible_since=2,
)

TOPIC_RESPONSE = Struct(
    "CreatePartitionsTopicResult",
    Field("name", STRING),
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True, default=None),
)
RESPONSE = Message(
    "CreatePartitionsResponse",
    Field("throttle_time_ms", INT32),
    Array("results", TOPIC_RESPONSE),
    flexible_since=2,
)
