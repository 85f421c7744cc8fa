"""ConsumerGroupDescribe (key 69), versions 0-1."""

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

REQUEST = Message(
    "ConsumerGroupDescribeRequest",
    Array("group_ids", STRING),
    Field("include_authorized_operations", BOOLEAN),
    flexible_since=0,
)

TOPIC_PARTITIONS = Struct(
    "TopicPartitions",
    Field("topic_id", UUID),
    Field("topic_name", STRING),
    Array("partitions", INT32),
)
ASSIGNMENT = Struct(
    "Assignment",
    Array("topic_partitions", TOPIC_PARTITIONS),
)
MEMBER = Struct(
    "Member",
    Field("member_id", STRING),
    Field("instance_id", STRING, nullable=True, default=None),
    Field("rack_id", STRING, nullable=True, default=None),
    Field("member_epoch", INT32),
    Field("client_id", STRING),
    Field("client_host", STRING),
    Array("subscribed_topic_names", STRING),
    Field("subscribed_topic_regex", STRING, nullable=True, default=None),
    Field("assignment", ASSIGNMENT),
    Field("target_assignment", ASSIGNMENT),
    Field("member_type", INT8, since=1, default=-1),
)
GROUP = Struct(
    "DescribedGroup",
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True, default=None),
    Field("group_id", STRING),
    Field("group_state", STRING),
    Field("group_epoch", INT32),
    Field("assignment_epoch", INT32),
    Field("assignor_name", STRING),
    Array("members", MEMBER),
    Field("authorized_operations", INT32, default=-(2**31)),
)
RESPONSE = Message(
    "ConsumerGroupDescribeResponse",
    Field("throttle_time_ms", INT32),
    Array("groups", GROUP),
    flexible_since=0,
)
