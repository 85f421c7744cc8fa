"""ApiVersions (key 18), versions 0-4."""

from __future__ import annotations

from samsa.wire.schema import BOOLEAN, INT16, INT32, INT64, STRING, Array, Field, Message, Struct

REQUEST = Message(
    "ApiVersionsRequest",
    Field("client_software_name", STRING, since=3),
    Field("client_software_version", STRING, since=3),
    flexible_since=3,
)

API_VERSION = Struct(
    "ApiVersion",
    Field("api_key", INT16),
    Field("min_version", INT16),
    Field("max_version", INT16),
)
SUPPORTED_FEATURE = Struct(
    "SupportedFeatureKey",
    Field("name", STRING, since=3),
    Field("min_version", INT16, since=3),
    Field("max_version", INT16, since=3),
)
FINALIZED_FEATURE = Struct(
    "FinalizedFeatureKey",
    Field("name", STRING, since=3),
    Field("max_version_level", INT16, since=3),
    Field("min_version_level", INT16, since=3),
)
RESPONSE = Message(
    "ApiVersionsResponse",
    Field("error_code", INT16),
    Array("api_keys", API_VERSION),
    Field("throttle_time_ms", INT32, since=1),
    Array("supported_features", SUPPORTED_FEATURE, since=3, tag=0),
    Field("finalized_features_epoch", INT64, since=3, tag=1, default=-1),
    Array("finalized_features", FINALIZED_FEATURE, since=3, tag=2),
    Field("zk_migration_ready", BOOLEAN, since=3, tag=3),
    flexible_since=3,
)
