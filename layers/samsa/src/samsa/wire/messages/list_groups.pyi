# Generated from list_groups.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class ListGroupsRequest(Row):
    states_filter: list[str]
    types_filter: list[str]
    def __init__(
        self,
        *,
        states_filter: list[str] = ...,
        types_filter: list[str] = ...,
    ) -> None: ...

class ListedGroup(Row):
    group_id: str
    protocol_type: str
    group_state: str
    group_type: str
    def __init__(
        self,
        *,
        group_id: str = ...,
        protocol_type: str = ...,
        group_state: str = ...,
        group_type: str = ...,
    ) -> None: ...

class ListGroupsResponse(Row):
    throttle_time_ms: int
    error_code: int
    groups: list[ListedGroup]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        groups: list[ListedGroup] = ...,
    ) -> None: ...

REQUEST: MessageOf[ListGroupsRequest]
GROUP: StructOf[ListedGroup]
RESPONSE: MessageOf[ListGroupsResponse]
