# Generated from list_config_resources.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class ListConfigResourcesRequest(Row):
    resource_types: list[int]
    def __init__(
        self,
        *,
        resource_types: list[int] = ...,
    ) -> None: ...

class ConfigResource(Row):
    resource_name: str
    resource_type: int
    def __init__(
        self,
        *,
        resource_name: str = ...,
        resource_type: int = ...,
    ) -> None: ...

class ListConfigResourcesResponse(Row):
    throttle_time_ms: int
    error_code: int
    config_resources: list[ConfigResource]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        config_resources: list[ConfigResource] = ...,
    ) -> None: ...

REQUEST: MessageOf[ListConfigResourcesRequest]
RESOURCE: StructOf[ConfigResource]
RESPONSE: MessageOf[ListConfigResourcesResponse]
