"""DeleteAcls (key 31), versions 1-3."""

from __future__ import annotations

from samsa.wire.schema import INT8, INT16, INT32, STRING, Array, Field, Message, Struct

FILTER = Struct(
    "DeleteAclsFilter",
    Field("resource_type_filter", INT8),
    Field("resource_name_filter", STRING, nullable=True),
    Field("pattern_type_filter", INT8, default=3),
    Field("principal_filter", STRING, nullable=True),
    Field("host_filter", STRING, nullable=True),
    Field("operation", INT8),
    Field("permission_type", INT8),
)
REQUEST = Message(
    "DeleteAclsRequest",
    Array("filters", FILTER),
    flexible_since=2,
)

ACL = Struct(
    "DeleteAclsMatchingAcl",
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True),
    Field("resource_type", INT8),
    Field("resource_name", STRING),
    Field("pattern_type", INT8, default=3),
    Field("principal", STRING),
    Field("host", STRING),
    Field("operation", INT8),
    Field("permission_type", INT8),
)
RESULT = Struct(
    "DeleteAclsFilterResult",
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True),
    Array("matching_acls", ACL),
)
RESPONSE = Message(
    "DeleteAclsResponse",
    Field("throttle_time_ms", INT32),
    Array("filter_results", RESULT),
    flexible_since=2,
)
