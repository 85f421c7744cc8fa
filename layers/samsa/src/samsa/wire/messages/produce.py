"""Produce (key 0), versions 0-13."""

from __future__ import annotations

from samsa.wire.schema import (
    INT16,
    INT32,
    INT64,
    RECORDS,
    STRING,
    UUID,
    Array,
    Field,
    Message,
    Struct,
)

PARTITION = Struct(
    "PartitionProduceData",
    Field("index", INT32),
    Field("records", RECORDS, nullable=True),
)
TOPIC = Struct(
    "TopicProduceData",
    Field("name", STRING, until=12),
    Field("topic_id", UUID, since=13),
    Array("partition_data", PARTITION),
)
REQUEST = Message(
    "ProduceRequest",
    Field("transactional_id", STRING, since=3, nullable=True, default=None),
    Field("acks", INT16),
    Field("timeout_ms", INT32),
    Array("topic_data", TOPIC),
    flexible_since=9,
)

RECORD_ERROR = Struct(
    "BatchIndexAndErrorMessage",
    Field("batch_index", INT32, since=8),
    Field("batch_index_error_message", STRING, since=8, nullable=True, default=None),
)
CURRENT_LEADER = Struct(
    "LeaderIdAndEpoch",
    Field("leader_id", INT32, since=10, default=-1),
    Field("leader_epoch", INT32, since=10, default=-1),
)
PARTITION_RESPONSE = Struct(
    "PartitionProduceResponse",
    Field("index", INT32),
    Field("error_code", INT16),
    Field("base_offset", INT64),
    Field("log_append_time_ms", INT64, since=2, default=-1),
    Field("log_start_offset", INT64, since=5, default=-1),
    Array("record_errors", RECORD_ERROR, since=8),
    Field("error_message", STRING, since=8, nullable=True, default=None),
    Field("current_leader", CURRENT_LEADER, since=10, tag=0),
)
TOPIC_RESPONSE = Struct(
    "TopicProduceResponse",
    Field("name", STRING, until=12),
    Field("topic_id", UUID, since=13),
    Array("partition_responses", PARTITION_RESPONSE),
)
NODE_ENDPOINT = Struct(
    "NodeEndpoint",
    Field("node_id", INT32, since=10),
    Field("host", STRING, since=10),
    Field("port", INT32, since=10),
    Field("rack", STRING, since=10, nullable=True, default=None),
)
RESPONSE = Message(
    "ProduceResponse",
    Array("responses", TOPIC_RESPONSE),
    Field("throttle_time_ms", INT32, since=1),
    Array("node_endpoints", NODE_ENDPOINT, since=10, tag=0),
    flexible_since=9,
)
