# Generated from api_versions.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class ApiVersionsRequest(Row):
    client_software_name: str
    client_software_version: str
    def __init__(
        self,
        *,
        client_software_name: str = ...,
        client_software_version: str = ...,
    ) -> None: ...

class ApiVersion(Row):
    api_key: int
    min_version: int
    max_version: int
    def __init__(
        self,
        *,
        api_key: int = ...,
        min_version: int = ...,
        max_version: int = ...,
    ) -> None: ...

class SupportedFeatureKey(Row):
    name: str
    min_version: int
    max_version: int
    def __init__(
        self,
        *,
        name: str = ...,
        min_version: int = ...,
        max_version: int = ...,
    ) -> None: ...

class FinalizedFeatureKey(Row):
    name: str
    max_version_level: int
    min_version_level: int
    def __init__(
        self,
        *,
        name: str = ...,
        max_version_level: int = ...,
        min_version_level: int = ...,
    ) -> None: ...

class ApiVersionsResponse(Row):
    error_code: int
    api_keys: list[ApiVersion]
    throttle_time_ms: int
    supported_features: list[SupportedFeatureKey]
    finalized_features_epoch: int
    finalized_features: list[FinalizedFeatureKey]
    zk_migration_ready: bool
    def __init__(
        self,
        *,
        error_code: int = ...,
        api_keys: list[ApiVersion] = ...,
        throttle_time_ms: int = ...,
        supported_features: list[SupportedFeatureKey] = ...,
        finalized_features_epoch: int = ...,
        finalized_features: list[FinalizedFeatureKey] = ...,
        zk_migration_ready: bool = ...,
    ) -> None: ...

REQUEST: MessageOf[ApiVersionsRequest]
API_VERSION: StructOf[ApiVersion]
SUPPORTED_FEATURE: StructOf[SupportedFeatureKey]
FINALIZED_FEATURE: StructOf[FinalizedFeatureKey]
RESPONSE: MessageOf[ApiVersionsResponse]
