"""DescribeTopicPartitions (key 75), version 0."""

from __future__ import annotations

from samsa.wire.schema import BOOLEAN, INT16, INT32, STRING, UUID, Array, Field, Message, Struct

TOPIC = Struct("TopicRequest", Field("name", STRING))
CURSOR = Struct(
    "Cursor",
    Field("topic_name", STRING),
    Field("partition_index", INT32),
)
REQUEST = Message(
    "DescribeTopicPartitionsRequest",
    Array("topics", TOPIC),
    Field("response_partition_limit", INT32, default=2000),
    Field("cursor", CURSOR, nullable=True, default=None),
    flexible_since=0,
)

PARTITION_RESPONSE = Struct(
    "DescribeTopicPartitionsResponsePartition",
    Field("error_code", INT16),
    Field("partition_index", INT32),
    Field("leader_id", INT32),
    Field("leader_epoch", INT32, default=-1),
    Array("replica_nodes", INT32),
    Array("isr_nodes", INT32),
    Array("eligible_leader_replicas", INT32, nullable=True, default=None),
    Array("last_known_elr", INT32, nullable=True, default=None),
    Array("offline_replicas", INT32),
)
TOPIC_RESPONSE = Struct(
    "DescribeTopicPartitionsResponseTopic",
    Field("error_code", INT16),
    Field("name", STRING, nullable=True),
    Field("topic_id", UUID),
    Field("is_internal", BOOLEAN),
    Array("partitions", PARTITION_RESPONSE),
    Field("topic_authorized_operations", INT32, default=-(2**31)),
)
RESPONSE = Message(
    "DescribeTopicPartitionsResponse",
    Field("throttle_time_ms", INT32),
    Array("topics", TOPIC_RESPONSE),
    Field("next_cursor", CURSOR, nullable=True, default=None),
    flexible_since=0,
)
