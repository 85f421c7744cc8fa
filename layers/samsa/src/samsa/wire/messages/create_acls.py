"""CreateAcls (key 30), versions 1-3."""

from __future__ import annotations

from samsa.wire.schema import INT8, INT16, INT32, STRING, Array, Field, Message, Struct

CREATION = Struct(
    "AclCreation",
    Field("resource_type", INT8),
    Field("resource_name", STRING),
    Field("resource_pattern_type", INT8, default=3),
    Field("principal", STRING),
    Field("host", STRING),
    Field("operation", INT8),
    Field("permission_type", INT8),
)
REQUEST = Message(
    "CreateAclsRequest",
    Array("creations", CREATION),
    flexible_since=2,
)

RESULT = Struct(
    "AclCreationResult",
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True),
)
RESPONSE = Message(
    "CreateAclsResponse",
    Field("throttle_time_ms", INT32),
    Array("results", RESULT),
    flexible_since=2,
)
