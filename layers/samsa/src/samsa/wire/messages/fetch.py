"""Fetch (key 1), versions 0-18."""

from __future__ import annotations

from samsa.wire.schema import (
    INT8,
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

REPLICA_STATE = Struct(
    "ReplicaState",
    Field("replica_id", INT32, since=15, default=-1),
    Field("replica_epoch", INT64, since=15, default=-1),
)
PARTITION = Struct(
    "FetchPartition",
    Field("partition", INT32),
    Field("current_leader_epoch", INT32, since=9, default=-1),
    Field("fetch_offset", INT64),
    Field("last_fetched_epoch", INT32, since=12, default=-1),
    Field("log_start_offset", INT64, since=5, default=-1),
    Field("partition_max_bytes", INT32),
    Field("replica_directory_id", UUID, since=17, tag=0),
    Field("high_watermark", INT64, since=18, tag=1, default=2**63 - 1),
)
TOPIC = Struct(
    "FetchTopic",
    Field("topic", STRING, until=12),
    Field("topic_id", UUID, since=13),
    Array("partitions", PARTITION),
)
FORGOTTEN_TOPIC = Struct(
    "ForgottenTopic",
    Field("topic", STRING, since=7, until=12),
    Field("topic_id", UUID, since=13),
    Array("partitions", INT32, since=7),
)
REQUEST = Message(
    "FetchRequest",
    Field("cluster_id", STRING, since=12, nullable=True, tag=0, default=None),
    Field("replica_id", INT32, until=14, default=-1),
    Field("replica_state", REPLICA_STATE, since=15, tag=1),
    Field("max_wait_ms", INT32),
    Field("min_bytes", INT32),
    Field("max_bytes", INT32, since=3, default=2**31 - 1),
    Field("isolation_level", INT8, since=4),
    Field("session_id", INT32, since=7),
    Field("session_epoch", INT32, since=7, default=-1),
    Array("topics", TOPIC),
    Array("forgotten_topics_data", FORGOTTEN_TOPIC, since=7),
    Field("rack_id", STRING, since=11),
    flexible_since=12,
)

DIVERGING_EPOCH = Struct(
    "EpochEndOffset",
    Field("epoch", INT32, since=12, default=-1),
    Field("end_offset", INT64, since=12, default=-1),
)
CURRENT_LEADER = Struct(
    "LeaderIdAndEpoch",
    Field("leader_id", INT32, since=12, default=-1),
    Field("leader_epoch", INT32, since=12, default=-1),
)
SNAPSHOT_ID = Struct(
    "SnapshotId",
    Field("end_offset", INT64, default=-1),
    Field("epoch", INT32, default=-1),
)
ABORTED_TRANSACTION = Struct(
    "AbortedTransaction",
    Field("producer_id", INT64, since=4),
    Field("first_offset", INT64, since=4),
)
PARTITION_RESPONSE = Struct(
    "PartitionData",
    Field("partition_index", INT32),
    Field("error_code", INT16),
    Field("high_watermark", INT64),
    Field("last_stable_offset", INT64, since=4, default=-1),
    Field("log_start_offset", INT64, since=5, default=-1),
    Field("diverging_epoch", DIVERGING_EPOCH, since=12, tag=0),
    Field("current_leader", CURRENT_LEADER, since=12, tag=1),
    Field("snapshot_id", SNAPSHOT_ID, since=12, tag=2),
    Array("aborted_transactions", ABORTED_TRANSACTION, since=4, nullable=True),
    Field("preferred_read_replica", INT32, since=11, default=-1),
    Field("records", RECORDS, nullable=True),
)
TOPIC_RESPONSE = Struct(
    "FetchableTopicResponse",
    Field("topic", STRING, until=12),
    Field("topic_id", UUID, since=13),
    Array("partitions", PARTITION_RESPONSE),
)
NODE_ENDPOINT = Struct(
    "NodeEndpoint",
    Field("node_id", INT32, since=16),
    Field("host", STRING, since=16),
    Field("port", INT32, since=16),
    Field("rack", STRING, since=16, nullable=True, default=None),
)
RESPONSE = Message(
    "FetchResponse",
    Field("throttle_time_ms", INT32, since=1),
    Field("error_code", INT16, since=7),
    Field("session_id", INT32, since=7),
    Array("responses", TOPIC_RESPONSE),
    Array("node_endpoints", NODE_ENDPOINT, since=16, tag=0),
    flexible_since=12,
)
