"""ConsumerGroupHeartbeat (key 68), versions 0-1."""

from __future__ import annotations

from samsa.wire.schema import INT16, INT32, STRING, UUID, Array, Field, Message, Struct

TOPIC_PARTITIONS = Struct(
    "TopicPartitions",
    Field("topic_id", UUID),
    Array("partitions", INT32),
)
REQUEST = Message(
    "ConsumerGroupHeartbeatRequest",
    Field("group_id", STRING),
    Field("member_id", STRING),
    Field("member_epoch", INT32),
    Field("instance_id", STRING, nullable=True, default=None),
    Field("rack_id", STRING, nullable=True, default=None),
    Field("rebalance_timeout_ms", INT32, default=-1),
    Array("subscribed_topic_names", STRING, nullable=True, default=None),
    Field("subscribed_topic_regex", STRING, since=1, nullable=True, default=None),
    Field("server_assignor", STRING, nullable=True, default=None),
    Array("topic_partitions", TOPIC_PARTITIONS, nullable=True, default=None),
    flexible_since=0,
)

ASSIGNMENT = Struct(
    "Assignment",
    Array("topic_partitions", TOPIC_PARTITIONS),
)
RESPONSE = Message(
    "ConsumerGroupHeartbeatResponse",
    Field("throttle_time_ms", INT32),
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True, default=None),
    Field("member_id", STRING, nullable=True, default=None),
    Field("member_epoch", INT32),
    Field("heartbeat_interval_ms", INT32),
    Field("assignment", ASSIGNMENT, nullable=True, default=None),
    flexible_since=0,
)
