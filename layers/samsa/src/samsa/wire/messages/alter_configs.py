"""AlterConfigs (key 33), versions 0-2."""

from __future__ import annotations

from samsa.wire.schema import BOOLEAN, INT8, INT16, INT32, STRING, Array, Field, Message, Struct

CONFIG = Struct(
    "AlterableConfig",
    Field("name", STRING),
    Field("value", STRING, nullable=True),
)
RESOURCE = Struct(
    "AlterConfigsResource",
    Field("resource_type", INT8),
    Field("resource_name", STRING),
    Array("configs", CONFIG),
)
REQUEST = Message(
    "AlterConfigsRequest",
    Array("resources", RESOURCE),
    Field("validate_only", BOOLEAN),
    flexible_since=2,
)

RESOURCE_RESPONSE = Struct(
    "AlterConfigsResourceResponse",
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True),
    Field("resource_type", INT8),
    Field("resource_name", STRING),
)
RESPONSE = Message(
    "AlterConfigsResponse",
    Field("throttle_time_ms", INT32),
    Array("responses", RESOURCE_RESPONSE),
    flexible_since=2,
)
