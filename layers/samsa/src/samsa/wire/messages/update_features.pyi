# Generated from update_features.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class FeatureUpdateKey(Row):
    feature: str
    max_version_level: int
    allow_downgrade: bool
    upgrade_type: int
    def __init__(
        self,
        *,
        feature: str = ...,
        max_version_level: int = ...,
        allow_downgrade: bool = ...,
        upgrade_type: int = ...,
    ) -> None: ...

class UpdateFeaturesRequest(Row):
    timeout_ms: int
    feature_updates: list[FeatureUpdateKey]
    validate_only: bool
    def __init__(
        self,
        *,
        timeout_ms: int = ...,
        feature_updates: list[FeatureUpdateKey] = ...,
        validate_only: bool = ...,
    ) -> None: ...

class UpdatableFeatureResult(Row):
    feature: str
    error_code: int
    error_message: str | None
    def __init__(
        self,
        *,
        feature: str = ...,
        error_code: int = ...,
        error_message: str | None = ...,
    ) -> None: ...

class UpdateFeaturesResponse(Row):
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    results: list[UpdatableFeatureResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        results: list[UpdatableFeatureResult] = ...,
    ) -> None: ...

UPDATE: StructOf[FeatureUpdateKey]
REQUEST: MessageOf[UpdateFeaturesRequest]
RESULT: StructOf[UpdatableFeatureResult]
RESPONSE: MessageOf[UpdateFeaturesResponse]
