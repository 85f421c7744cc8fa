# Generated from create_acls.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class AclCreation(Row):
    resource_type: int
    resource_name: str
    resource_pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int
    def __init__(
        self,
        *,
        resource_type: int = ...,
        resource_name: str = ...,
        resource_pattern_type: int = ...,
        principal: str = ...,
        host: str = ...,
        operation: int = ...,
        permission_type: int = ...,
    ) -> None: ...

class CreateAclsRequest(Row):
    creations: list[AclCreation]
    def __init__(
        self,
        *,
        creations: list[AclCreation] = ...,
    ) -> None: ...

class AclCreationResult(Row):
    error_code: int
    error_message: str | None
    def __init__(
        self,
        *,
        error_code: int = ...,
        error_message: str | None = ...,
    ) -> None: ...

class CreateAclsResponse(Row):
    throttle_time_ms: int
    results: list[AclCreationResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        results: list[AclCreationResult] = ...,
    ) -> None: ...

CREATION: StructOf[AclCreation]
REQUEST: MessageOf[CreateAclsRequest]
RESULT: StructOf[AclCreationResult]
RESPONSE: MessageOf[CreateAclsResponse]
