"""DeleteGroups (key 42), versions 0-2."""

from __future__ import annotations

from samsa.wire.schema import INT16, INT32, STRING, Array, Field, Message, Struct

REQUEST = Message(
    "DeleteGroupsRequest",
    Array("groups_names", STRING),
    flexible_since=2,
)

GROUP = Struct(
    "DeletableGroupResult",
    Field("group_id", STRING),
    Field("error_code", INT16),
)
RESPONSE = Message(
    "DeleteGroupsResponse",
    Field("throttle_time_ms", INT32),
    Array("results", GROUP),
    flexible_since=2,
)
