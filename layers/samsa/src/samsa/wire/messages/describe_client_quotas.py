"""DescribeClientQuotas (key 48), versions 0-1."""

from __future__ import annotations

from samsa.wire.schema import (
    BOOLEAN,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    STRING,
    Array,
    Field,
    Message,
    Struct,
)

COMPONENT = Struct(
    "ComponentData",
    Field("entity_type", STRING),
    Field("match_type", INT8),
    Field("match", STRING, nullable=True),
)
REQUEST = Message(
    "DescribeClientQuotasRequest",
    Array("components", COMPONENT),
    Field("strict", BOOLEAN),
    flexible_since=1,
)

ENTITY = Struct(
    "EntityData",
    Field("entity_type", STRING),
    Field("entity_name", STRING, nullable=True),
)
VALUE = Struct(
    "ValueData",
    Field("key", STRING),
    Field("value", FLOAT64),
)
ENTRY = Struct(
    "EntryData",
    Array("entity", ENTITY),
    Array("values", VALUE),
)
RESPONSE = Message(
    "DescribeClientQuotasResponse",
    Field("throttle_time_ms", INT32),
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True),
    Array("entries", ENTRY, nullable=True),
    flexible_since=1,
)
