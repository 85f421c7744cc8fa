"""DescribeGroups (key 15), versions 0-6."""

from __future__ import annotations

from samsa.wire.schema import BOOLEAN, BYTES, INT16, INT32, STRING, Array, Field, Message, Struct

REQUEST = Message(
    "DescribeGroupsRequest",
    Array("groups", STRING),
    Field("include_authorized_operations", BOOLEAN, since=3),
    flexible_since=5,
)

MEMBER = Struct(
    "DescribedGroupMember",
    Field("member_id", STRING),
    Field("group_instance_id", STRING, since=4, nullable=True, default=None),
    Field("client_id", STRING),
    Field("client_host", STRING),
    Field("member_metadata", BYTES),
    Field("member_assignment", BYTES),
)
GROUP = Struct(
    "DescribedGroup",
    Field("error_code", INT16),
    Field("error_message", STRING, since=6, nullable=True, default=None),
    Field("group_id", STRING),
    Field("group_state", STRING),
    Field("protocol_type", STRING),
    Field("protocol_data", STRING),
    Array("members", MEMBER),
    Field("authorized_operations", INT32, since=3, default=-(2**31)),
)
RESPONSE = Message(
    "DescribeGroupsResponse",
    Field("throttle_time_ms", INT32, since=1),
    Array("groups", GROUP),
    flexible_since=5,
)
