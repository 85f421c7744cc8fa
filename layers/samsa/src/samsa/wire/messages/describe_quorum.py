"""DescribeQuorum (key 55), versions 0-2."""

from __future__ import annotations

from samsa.wire.schema import (
    INT16,
    INT32,
    INT64,
    STRING,
    UINT16,
    UUID,
    Array,
    Field,
    Message,
    Struct,
)

PARTITION = Struct("PartitionData", Field("partition_index", INT32))
TOPIC = Struct(
    "TopicData",
    Field("topic_name", STRING),
    Array("partitions", PARTITION),
)
REQUEST = Message(
    "DescribeQuorumRequest",
    Array("topics", TOPIC),
    flexible_since=0,
)

REPLICA = Struct(
    "ReplicaState",
    Field("replica_id", INT32),
    Field("replica_directory_id", UUID, since=2),
    Field("log_end_offset", INT64),
    Field("last_fetch_timestamp", INT64, since=1, default=-1),
    Field("last_caught_up_timestamp", INT64, since=1, default=-1),
)
PARTITION_RESPONSE = Struct(
    "PartitionData",
    Field("partition_index", INT32),
    Field("error_code", INT16),
    Field("error_message", STRING, since=2, nullable=True),
    Field("leader_id", INT32),
    Field("leader_epoch", INT32),
    Field("high_watermark", INT64),
    Array("current_voters", REPLICA),
    Array("observers", REPLICA),
)
TOPIC_RESPONSE = Struct(
    "TopicData",
    Field("topic_name", STRING),
    Array("partitions", PARTITION_RESPONSE),
)
LISTENER = Struct(
    "Listener",
    Field("name", STRING),
    Field("host", STRING),
    Field("port", UINT16),
)
NODE = Struct(
    "Node",
    Field("node_id", INT32),
    Array("listeners", LISTENER),
)
RESPONSE = Message(
    "DescribeQuorumResponse",
    Field("error_code", INT16),
    Field("error_message", STRING, since=2, nullable=True),
    Array("topics", TOPIC_RESPONSE),
    Array("nodes", NODE, since=2),
    flexible_since=0,
)
