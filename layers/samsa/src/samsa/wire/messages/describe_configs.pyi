# Generated from describe_configs.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class DescribeConfigsResource(Row):
    resource_type: int
    resource_name: str
    configuration_keys: list[str] | None
    def __init__(
        self,
        *,
        resource_type: int = ...,
        resource_name: str = ...,
        configuration_keys: list[str] | None = ...,
    ) -> None: ...

class DescribeConfigsRequest(Row):
    resources: list[DescribeConfigsResource]
    include_synonyms: bool
    include_documentation: bool
    def __init__(
        self,
        *,
        resources: list[DescribeConfigsResource] = ...,
        include_synonyms: bool = ...,
        include_documentation: bool = ...,
    ) -> None: ...

class DescribeConfigsSynonym(Row):
    name: str
    value: str | None
    source: int
    def __init__(
        self,
        *,
        name: str = ...,
        value: str | None = ...,
        source: int = ...,
    ) -> None: ...

class DescribeConfigsResourceResult(Row):
    name: str
    value: str | None
    read_only: bool
    is_default: bool
    config_source: int
    is_sensitive: bool
    synonyms: list[DescribeConfigsSynonym]
    config_type: int
    documentation: str | None
    def __init__(
        self,
        *,
        name: str = ...,
        value: str | None = ...,
        read_only: bool = ...,
        is_default: bool = ...,
        config_source: int = ...,
        is_sensitive: bool = ...,
        synonyms: list[DescribeConfigsSynonym] = ...,
        config_type: int = ...,
        documentation: str | None = ...,
    ) -> None: ...

class DescribeConfigsResult(Row):
    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str
    configs: list[DescribeConfigsResourceResult]
    def __init__(
        self,
        *,
        error_code: int = ...,
        error_message: str | None = ...,
        resource_type: int = ...,
        resource_name: str = ...,
        configs: list[DescribeConfigsResourceResult] = ...,
    ) -> None: ...

class DescribeConfigsResponse(Row):
    throttle_time_ms: int
    results: list[DescribeConfigsResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        results: list[DescribeConfigsResult] = ...,
    ) -> None: ...

RESOURCE: StructOf[DescribeConfigsResource]
REQUEST: MessageOf[DescribeConfigsRequest]
SYNONYM: StructOf[DescribeConfigsSynonym]
CONFIG: StructOf[DescribeConfigsResourceResult]
RESULT: StructOf[DescribeConfigsResult]
RESPONSE: MessageOf[DescribeConfigsResponse]
