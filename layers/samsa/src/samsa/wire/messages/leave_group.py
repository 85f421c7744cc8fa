"""LeaveGroup (key 13), versions 0-5. From 3 on several members leave at once."""

from __future__ import annotations

from samsa.wire.schema import INT16, INT32, STRING, Array, Field, Message, Struct

MEMBER = Struct(
    "MemberIdentity",
    Field("member_id", STRING, since=3),
    Field("group_instance_id", STRING, since=3, nullable=True, default=None),
    Field("reason", STRING, since=5, nullable=True, default=None),
)
REQUEST = Message(
    "LeaveGroupRequest",
    Field("group_id", STRING),
    Field("member_id", STRING, until=2),
    Array("members", MEMBER, since=3),
    flexible_since=4,
)

MEMBER_RESPONSE = Struct(
    "MemberResponse",
    Field("member_id", STRING, since=3),
    Field("group_instance_id", STRING, since=3, nullable=True),
    Field("error_code", INT16, since=3),
)
RESPONSE = Message(
    "LeaveGroupResponse",
    Field("throttle_time_ms", INT32, since=1),
    Field("error_code", INT16),
    Array("members", MEMBER_RESPONSE, since=3),
    flexible_since=4,
)
