"""AlterClientQuotas (key 49), versions 0-1."""

from __future__ import annotations

from samsa.wire.schema import BOOLEAN, FLOAT64, INT16, INT32, STRING, Array, Field, Message, Struct

ENTITY = Struct(
    "EntityData",
    Field("entity_type", STRING),
    Field("entity_name", STRING, nullable=True),
)
OP = Struct(
    "OpData",
    Field("key", STRING),
    Field("value", FLOAT64),
    Field("remove", BOOLEAN),
)
ENTRY = Struct(
    "EntryData",
    Array("entity", ENTITY),
    Array("ops", OP),
)
REQUEST = Message(
    "AlterClientQuotasRequest",
    Array("entries", ENTRY),
    Field("validate_only", BOOLEAN),
    flexible_since=1,
)

ENTITY_RESPONSE = Struct(
    "EntityData",
    Field("entity_type", STRING),
    Field("entity_name", STRING, nullable=True),
)
ENTRY_RESPONSE = Struct(
    "EntryData",
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True),
    Array("entity", ENTITY_RESPONSE),
)
RESPONSE = Message(
    "AlterClientQuotasResponse",
    Field("throttle_time_ms", INT32),
    Array("entries", ENTRY_RESPONSE),
    flexible_since=1,
)
