# Generated from incremental_alter_configs.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class AlterableConfig(Row):
    name: str
    config_operation: int
    value: str | None
    def __init__(
        self,
        *,
        name: str = ...,
        config_operation: int = ...,
        value: str | None = ...,
    ) -> None: ...

class AlterConfigsResource(Row):
    resource_type: int
    resource_name: str
    configs: list[AlterableConfig]
    def __init__(
        self,
        *,
        resource_type: int = ...,
        resource_name: str = ...,
        configs: list[AlterableConfig] = ...,
    ) -> None: ...

class IncrementalAlterConfigsRequest(Row):
    resources: list[AlterConfigsResource]
    validate_only: bool
    def __init__(
        self,
        *,
        resources: list[AlterConfigsResource] = ...,
        validate_only: bool = ...,
    ) -> None: ...

class AlterConfigsResourceResponse(Row):
    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str
    def __init__(
        self,
        *,
        error_code: int = ...,
        error_message: str | None = ...,
        resource_type: int = ...,
        resource_name: str = ...,
    ) -> None: ...

class IncrementalAlterConfigsResponse(Row):
    throttle_time_ms: int
    responses: list[AlterConfigsResourceResponse]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        responses: list[AlterConfigsResourceResponse] = ...,
    ) -> None: ...

CONFIG: StructOf[AlterableConfig]
RESOURCE: StructOf[AlterConfigsResource]
REQUEST: MessageOf[IncrementalAlterConfigsRequest]
RESOURCE_RESPONSE: StructOf[AlterConfigsResourceResponse]
RESPONSE: MessageOf[IncrementalAlterConfigsResponse]
