"""JoinGroup (key 11), versions 0-9."""

from __future__ import annotations

from samsa.wire.schema import BOOLEAN, BYTES, INT16, INT32, STRING, Array, Field, Message, Struct

PROTOCOL = Struct(
    "JoinGroupRequestProtocol",
    Field("name", STRING),
    Field("metadata", BYTES),
)
REQUEST = Message(
    "JoinGroupRequest",
    Field("group_id", STRING),
    Field("session_timeout_ms", INT32),
    Field("rebalance_timeout_ms", INT32, since=1, default=-1),
    Field("member_id", STRING),
    Field("group_instance_id", STRING, since=5, nullable=True, default=None),
    Field("protocol_type", STRING),
    Array("protocols", PROTOCOL),
    Field("reason", STRING, since=8, nullable=True, default=None),
    flexible_since=6,
)

MEMBER = Struct(
    "JoinGroupResponseMember",
    Field("member_id", STRING),
    Field("group_instance_id", STRING, since=5, nullable=True, default=None),
    Field("metadata", BYTES),
)
RESPONSE = Message(
    "JoinGroupResponse",
    Field("throttle_time_ms", INT32, since=2),
    Field("error_code", INT16),
    Field("generation_id", INT32, default=-1),
    Field("protocol_type", STRING, since=7, nullable=True, default=None),
    Field("protocol_name", STRING, nullable_since=7),
    Field("leader", STRING),
    Field("skip_assignment", BOOLEAN, since=9),
    Field("member_id", STRING),
    Array("members", MEMBER),
    flexible_since=6,
)
