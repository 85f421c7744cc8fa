"""CreateTopics (key 19), versions 0-7."""

from __future__ import annotations

from samsa.wire.schema import (
    BOOLEAN,
    INT8,
    INT16,
    INT32,
    STRING,
    UUID,
    Array,
    Field,
    Message,
    Struct,
)

ASSIGNMENT = Struct(
    "CreatableReplicaAssignment",
    Field("partition_index", INT32),
    Array("broker_ids", INT32),
)
CONFIG = Struct(
    "CreatableTopicConfig",
    Field("name", STRING),
    Field("value", STRING, nullable=True),
)
TOPIC = Struct(
    "CreatableTopic",
    Field("name", STRING),
    Field("num_partitions", INT32),
    Field("replication_factor", INT16),
    Array("assignments", ASSIGNMENT),
    Array("configs", CONFIG),
)
REQUEST = Message(
    "CreateTopicsRequest",
    Array("topics", TOPIC),
    Field("timeout_ms", INT32, default=60000),
    Field("validate_only", BOOLEAN, since=1),
    flexible_since=5,
)

CONFIG_RESPONSE = Struct(
    "CreatableTopicConfigs",
    Field("name", STRING, since=5),
    Field("value", STRING, since=5, nullable=True),
    Field("read_only", BOOLEAN, since=5),
    Field("config_source", INT8, since=5, default=-1),
    Field("is_sensitive", BOOLEAN, since=5),
)
TOPIC_RESPONSE = Struct(
    "CreatableTopicResult",
    Field("name", STRING),
    Field("topic_id", UUID, since=7),
    Field("error_code", INT16),
    Field("error_message", STRING, since=1, nullable=True),
    Field("topic_config_error_code", INT16, since=5, tag=0),
    Field("num_partitions", INT32, since=5, default=-1),
    Field("replication_factor", INT16, since=5, default=-1),
    Array("configs", CONFIG_RESPONSE, since=5, nullable=True),
)
RESPONSE = Message(
    "CreateTopicsResponse",
    Field("throttle_time_ms", INT32, since=2),
    Array("topics", TOPIC_RESPONSE),
    flexible_since=5,
)
