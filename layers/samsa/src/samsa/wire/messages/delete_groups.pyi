# Generated from delete_groups.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class DeleteGroupsRequest(Row):
    groups_names: list[str]
    def __init__(
        self,
        *,
        groups_names: list[str] = ...,
    ) -> None: ...

class DeletableGroupResult(Row):
    group_id: str
    error_code: int
    def __init__(
        self,
        *,
        group_id: str = ...,
        error_code: int = ...,
    ) -> None: ...

class DeleteGroupsResponse(Row):
    throttle_time_ms: int
    results: list[DeletableGroupResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        results: list[DeletableGroupResult] = ...,
    ) -> None: ...

REQUEST: MessageOf[DeleteGroupsRequest]
GROUP: StructOf[DeletableGroupResult]
RESPONSE: MessageOf[DeleteGroupsResponse]
