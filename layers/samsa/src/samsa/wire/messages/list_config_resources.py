"""ListConfigResources (key 74), versions 0-1. Version 0 was ListClientMetricsResources."""

from __future__ import annotations

from samsa.wire.schema import INT8, INT16, INT32, STRING, Array, Field, Message, Struct

REQUEST = Message(
    "ListConfigResourcesRequest",
    Array("resource_types", INT8, since=1),
    flexible_since=0,
)

RESOURCE = Struct(
    "ConfigResource",
    Field("resource_name", STRING),
    Field("resource_type", INT8, since=1, default=16),
)
RESPONSE = Message(
    "ListConfigResourcesResponse",
    Field("throttle_time_ms", INT32),
    Field("error_code", INT16),
    Array("config_resources", RESOURCE),
    flexible_since=0,
)
