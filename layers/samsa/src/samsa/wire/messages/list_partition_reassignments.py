"""ListPartitionReassignments (key 46), version 0."""

from __future__ import annotations

from samsa.wire.schema import INT16, INT32, STRING, Array, Field, Message, Struct

TOPIC = Struct(
    "ListPartitionReassignmentsTopics",
    Field("name", STRING),
    Array("partition_indexes", INT32),
)
REQUEST = Message(
    "ListPartitionReassignmentsRequest",
    Field("timeout_ms", INT32, default=60_000),
    Array("topics", TOPIC, nullable=True, default=None),
    flexible_since=0,
)

PARTITION_RESPONSE = Struct(
    "OngoingPartitionReassignment",
    Field("partition_index", INT32),
    Array("replicas", INT32),
    Array("adding_replicas", INT32),
    Array("removing_replicas", INT32),
)
TOPIC_RESPONSE = Struct(
    "OngoingTopicReassignment",
    Field("name", STRING),
    Array("partitions", PARTITION_RESPONSE),
)
RESPONSE = Message(
    "ListPartitionReassignmentsResponse",
    Field("throttle_time_ms", INT32),
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True),
    Array("topics", TOPIC_RESPONSE),
    flexible_since=0,
)
