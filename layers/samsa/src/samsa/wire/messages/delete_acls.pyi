# Generated from delete_acls.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class DeleteAclsFilter(Row):
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

class DeleteAclsRequest(Row):
    filters: list[DeleteAclsFilter]
    def __init__(
        self,
        *,
        filters: list[DeleteAclsFilter] = ...,
    ) -> None: ...

class DeleteAclsMatchingAcl(Row):
    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int
    def __init__(
        self,
        *,
        error_code: int = ...,
        error_message: str | None = ...,
        resource_type: int = ...,
        resource_name: str = ...,
        pattern_type: int = ...,
        principal: str = ...,
        host: str = ...,
        operation: int = ...,
        permission_type: int = ...,
    ) -> None: ...

class DeleteAclsFilterResult(Row):
    error_code: int
    error_message: str | None
    matching_acls: list[DeleteAclsMatchingAcl]
    def __init__(
        self,
        *,
        error_code: int = ...,
        error_message: str | None = ...,
        matching_acls: list[DeleteAclsMatchingAcl] = ...,
    ) -> None: ...

class DeleteAclsResponse(Row):
    throttle_time_ms: int
    filter_results: list[DeleteAclsFilterResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        filter_results: list[DeleteAclsFilterResult] = ...,
    ) -> None: ...

FILTER: StructOf[DeleteAclsFilter]
REQUEST: MessageOf[DeleteAclsRequest]
ACL: StructOf[DeleteAclsMatchingAcl]
RESULT: StructOf[DeleteAclsFilterResult]
RESPONSE: MessageOf[DeleteAclsResponse]
