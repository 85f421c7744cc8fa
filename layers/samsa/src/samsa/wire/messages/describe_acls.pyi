# Generated from describe_acls.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class DescribeAclsRequest(Row):
    resource_type_filter: int
    resource_name_filter: str | None
    pattern_type_filter: int
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int
    def __init__(
        self,
        *,
        resource_type_filter: int = ...,
        resource_name_filter: str | None = ...,
        pattern_type_filter: int = ...,
        principal_filter: str | None = ...,
        host_filter: str | None = ...,
        operation: int = ...,
        permission_type: int = ...,
    ) -> None: ...

class AclDescription(Row):
    principal: str
    host: str
    operation: int
    permission_type: int
    def __init__(
        self,
        *,
        principal: str = ...,
        host: str = ...,
        operation: int = ...,
        permission_type: int = ...,
    ) -> None: ...

class DescribeAclsResource(Row):
    resource_type: int
    resource_name: str
    pattern_type: int
    acls: list[AclDescription]
    def __init__(
        self,
        *,
        resource_type: int = ...,
        resource_name: str = ...,
        pattern_type: int = ...,
        acls: list[AclDescription] = ...,
    ) -> None: ...

class DescribeAclsResponse(Row):
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    resources: list[DescribeAclsResource]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        resources: list[DescribeAclsResource] = ...,
    ) -> None: ...

REQUEST: MessageOf[DescribeAclsRequest]
ACL: StructOf[AclDescription]
RESOURCE: StructOf[DescribeAclsResource]
RESPONSE: MessageOf[DescribeAclsResponse]
