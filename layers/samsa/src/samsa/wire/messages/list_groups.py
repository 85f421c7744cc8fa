"""ListGroups (key 16), versions 0-5."""

from __future__ import annotations

from samsa.wire.schema import INT16, INT32, STRING, Array, Field, Message, Struct

REQUEST = Message(
    "ListGroupsRequest",
    Array("states_filter", STRING, since=4),
    Array("types_filter", STRING, since=5),
    flexible_since=3,
)

GROUP = Struct(
    "ListedGroup",
    Field("group_id", STRING),
    Field("protocol_type", STRING),
    Field("group_state", STRING, since=4),
    Field("group_type", STRING, since=5),
)
RESPONSE = Message(
    "ListGroupsResponse",
    Field("throttle_time_ms", INT32, since=1),
    Field("error_code", INT16),
    Array("groups", GROUP),
    flexible_since=3,
)
