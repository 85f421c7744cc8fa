"""SyncGroup (key 14), versions 0-5."""

from __future__ import annotations

from samsa.wire.schema import BYTES, INT16, INT32, STRING, Array, Field, Message, Struct

ASSIGNMENT = Struct(
    "SyncGroupRequestAssignment",
    Field("member_id", STRING),
    Field("assignment", BYTES),
)
REQUEST = Message(
    "SyncGroupRequest",
    Field("group_id", STRING),
    Field("generation_id", INT32),
    Field("member_id", STRING),
    Field("group_instance_id", STRING, since=3, nullable=True, default=None),
    Field("protocol_type", STRING, since=5, nullable=True, default=None),
    Field("protocol_name", STRING, since=5, nullable=True, default=None),
    Array("assignments", ASSIGNMENT),
    flexible_since=4,
)

RESPONSE = Message(
    "SyncGroupResponse",
    Field("throttle_time_ms", INT32, since=1),
    Field("error_code", INT16),
    Field("protocol_type", STRING, since=5, nullable=True, default=None),
    Field("protocol_name", STRING, since=5, nullable=True, default=None),
    Field("assignment", BYTES),
    flexible_since=4,
)
