"""UpdateFeatures (key 57), versions 0-2. From 2 on there is one error for the whole request."""

from __future__ import annotations

from samsa.wire.schema import BOOLEAN, INT8, INT16, INT32, STRING, Array, Field, Message, Struct

UPDATE = Struct(
    "FeatureUpdateKey",
    Field("feature", STRING),
    Field("max_version_level", INT16),
    Field("allow_downgrade", BOOLEAN, until=0),
    Field("upgrade_type", INT8, since=1, default=1),
)
REQUEST = Message(
    "UpdateFeaturesRequest",
    Field("timeout_ms", INT32, default=60_000),
    Array("feature_updates", UPDATE),
    Field("validate_only", BOOLEAN, since=1),
    flexible_since=0,
)

RESULT = Struct(
    "UpdatableFeatureResult",
    Field("feature", STRING),
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True),
)
RESPONSE = Message(
    "UpdateFeaturesResponse",
    Field("throttle_time_ms", INT32),
    Field("error_code", INT16),
    Field("error_message", STRING, nullable=True),
    Array("results", RESULT, until=1),
    flexible_since=0,
)
