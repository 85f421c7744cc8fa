"""ElectLeaders (key 43), versions 0-2."""

from __future__ import annotations

from samsa.wire.schema import INT8, INT16, INT32, STRING, Array, Field, Message, Struct

TOPIC = Struct(
    "TopicPartitions",
    Field("topic", STRING),
    Array("partitions", INT32),
)
REQUEST = Message(
    "ElectLeadersRequest",
    Field("election_type", INT8, since=1),
    Array("topic_partitions", TOPIC, nullable=True),
    Field("timeout_ms", INT32, default=60_000),
    flexible_since=2,
)

PARTITION_RESPONSE = Struct(
    "PartitionResult",
    Field("partition_id", INT32),
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True),
)
TOPIC_RESPONSE = Struct(
    "ReplicaElectionResult",
    Field("topic", STRING),
    Array("partition_result", PARTITION_RESPONSE),
)
RESPONSE = Message(
    "ElectLeadersResponse",
    Field("throttle_time_ms", INT32),
    Field("error_code", INT16, since=1),
    Array("replica_election_results", TOPIC_RESPONSE),
    flexible_since=2,
)
