"""DescribeAcls (key 29), versions 1-3."""

from __future__ import annotations

from samsa.wire.schema import INT8, INT16, INT32, STRING, Array, Field, Message, Struct

REQUEST = Message(
    "DescribeAclsRequest",
    Field("resource_type_filter", INT8),
    Field("resource_name_filter", STRING, nullable=True),
    Field("pattern_type_filter", INT8, default=3),
    Field("principal_filter", STRING, nullable=True),
    Field("host_filter", STRING, nullable=True),
    Field("operation", INT8),
    Field("permission_type", INT8),
    flexible_since=2,
)

ACL = Struct(
    "AclDescription",
    Field("principal", STRING),
    Field("host", STRING),
    Field("operation", INT8),
    Field("permission_type", INT8),
)
RESOURCE = Struct(
    "DescribeAclsResource",
    Field("resource_type", INT8),
    Field("resource_name", STRING),
    Field("pattern_type", INT8, default=3),
    Array("acls", ACL),
)
RESPONSE = Message(
    "DescribeAclsResponse",
    Field("throttle_time_ms", INT32),
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True),
    Array("resources", RESOURCE),
    flexible_since=2,
)
