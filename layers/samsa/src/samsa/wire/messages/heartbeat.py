"""Heartbeat (key 12), versions 0-4."""

from __future__ import annotations

from samsa.wire.schema import INT16, INT32, STRING, Field, Message

REQUEST = Message(
    "HeartbeatRequest",
    Field("group_id", STRING),
    Field("generation_id", INT32),
    Field("member_id", STRING),
    Field("group_instance_id", STRING, since=3, nullable=True, default=None),
    flexible_since=4,
)

RESPONSE = Message(
    "HeartbeatResponse",
    Field("throttle_time_ms", INT32, since=1),
    Field("error_code", INT16),
    flexible_since=4,
)
