"""DescribeProducers (key 61), version 0."""

from __future__ import annotations

from samsa.wire.schema import INT16, INT32, INT64, STRING, Array, Field, Message, Struct

TOPIC = Struct(
    "TopicRequest",
    Field("name", STRING),
    Array("partition_indexes", INT32),
)
REQUEST = Message(
    "DescribeProducersRequest",
    Array("topics", TOPIC),
    flexible_since=0,
)

PRODUCER = Struct(
    "ProducerState",
    Field("producer_id", INT64),
    Field("producer_epoch", INT32),
    Field("last_sequence", INT32, default=-1),
    Field("last_timestamp", INT64, default=-1),
    Field("coordinator_epoch", INT32),
    Field("current_txn_start_offset", INT64, default=-1),
)
PARTITION_RESPONSE = Struct(
    "PartitionResponse",
    Field("partition_index", INT32),
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True, default=None),
    Array("active_producers", PRODUCER),
)
TOPIC_RESPONSE = Struct(
    "TopicResponse",
    Field("name", STRING),
    Array("partitions", PARTITION_RESPONSE),
)
RESPONSE = Message(
    "DescribeProducersResponse",
    Field("throttle_time_ms", INT32),
    Array("topics", TOPIC_RESPONSE),
    flexible_since=0,
)
