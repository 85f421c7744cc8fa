"""FindCoordinator (key 10), versions 0-6. From 4 on several keys are asked for at once."""

from __future__ import annotations

from samsa.wire.schema import INT8, INT16, INT32, STRING, Array, Field, Message, Struct

REQUEST = Message(
    "FindCoordinatorRequest",
    Field("key", STRING, until=3),
    Field("key_type", INT8, since=1),
    Array("coordinator_keys", STRING, since=4),
    flexible_since=3,
)

COORDINATOR = Struct(
    "Coordinator",
    Field("key", STRING, since=4),
    Field("node_id", INT32, since=4),
    Field("host", STRING, since=4),
    Field("port", INT32, since=4),
    Field("error_code", INT16, since=4),
    Field("error_message", STRING, since=4, nullable=True),
)
RESPONSE = Message(
    "FindCoordinatorResponse",
    Field("throttle_time_ms", INT32, since=1),
    Field("error_code", INT16, until=3),
    Field("error_message", STRING, since=1, until=3, nullable=True),
    Field("node_id", INT32, until=3),
    Field("host", STRING, until=3),
    Field("port", INT32, until=3),
    Array("coordinators", COORDINATOR, since=4),
    flexible_since=3,
)
