"""Metadata (key 3), versions 0-13."""

from __future__ import annotations

from samsa.wire.schema import BOOLEAN, INT16, INT32, STRING, UUID, Array, Field, Message, Struct

NO_OPERATIONS = -(2**31)
"""What a response says when the authorized operations were not asked for."""

TOPIC = Struct(
    "MetadataRequestTopic",
    Field("topic_id", UUID, since=10),
    Field("name", STRING, nullable_since=10),
)
REQUEST = Message(
    "MetadataRequest",
    Array("topics", TOPIC, nullable_since=1),
    Field("allow_auto_topic_creation", BOOLEAN, since=4, default=True),
    Field("include_cluster_authorized_operations", BOOLEAN, since=8, until=10),
    Field("include_topic_authorized_operations", BOOLEAN, since=8),
    flexible_since=9,
)

BROKER = Struct(
    "MetadataResponseBroker",
    Field("node_id", INT32),
    Field("host", STRING),
    Field("port", INT32),
    Field("rack", STRING, since=1, nullable=True, default=None),
)
PARTITION_RESPONSE = Struct(
    "MetadataResponsePartition",
    Field("error_code", INT16),
    Field("partition_index", INT32),
    Field("leader_id", INT32),
    Field("leader_epoch", INT32, since=7, default=-1),
    Array("replica_nodes", INT32),
    Array("isr_nodes", INT32),
    Array("offline_replicas", INT32, since=5),
)
TOPIC_RESPONSE = Struct(
    "MetadataResponseTopic",
    Field("error_code", INT16),
    Field("name", STRING, nullable_since=12),
    Field("topic_id", UUID, since=10),
    Field("is_internal", BOOLEAN, since=1),
    Array("partitions", PARTITION_RESPONSE),
    Field("topic_authorized_operations", INT32, since=8, default=NO_OPERATIONS),
)
RESPONSE = Message(
    "MetadataResponse",
    Field("throttle_time_ms", INT32, since=3),
    Array("brokers", BROKER),
    Field("cluster_id", STRING, since=2, nullable=True, default=None),
    Field("controller_id", INT32, since=1, default=-1),
    Array("topics", TOPIC_RESPONSE),
    Field("cluster_authorized_operations", INT32, since=8, until=10, default=NO_OPERATIONS),
    Field("error_code", INT16, since=13),
    flexible_since=9,
)
