# Generated from describe_groups.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class DescribeGroupsRequest(Row):
    groups: list[str]
    include_authorized_operations: bool
    def __init__(
        self,
        *,
        groups: list[str] = ...,
        include_authorized_operations: bool = ...,
    ) -> None: ...

class DescribedGroupMember(Row):
    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    member_metadata: bytes | memoryview
    member_assignment: bytes | memoryview
    def __init__(
        self,
        *,
        member_id: str = ...,
        group_instance_id: str | None = ...,
        client_id: str = ...,
        client_host: str = ...,
        member_metadata: bytes | memoryview = ...,
        member_assignment: bytes | memoryview = ...,
    ) -> None: ...

class DescribedGroup(Row):
    error_code: int
    error_message: str | None
    group_id: str
    group_state: str
    protocol_type: str
    protocol_data: str
    members: list[DescribedGroupMember]
    authorized_operations: int
    def __init__(
        self,
        *,
        error_code: int = ...,
        error_message: str | None = ...,
        group_id: str = ...,
        group_state: str = ...,
        protocol_type: str = ...,
        protocol_data: str = ...,
        members: list[DescribedGroupMember] = ...,
        authorized_operations: int = ...,
    ) -> None: ...

class DescribeGroupsResponse(Row):
    throttle_time_ms: int
    groups: list[DescribedGroup]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        groups: list[DescribedGroup] = ...,
    ) -> None: ...

REQUEST: MessageOf[DescribeGroupsRequest]
MEMBER: StructOf[DescribedGroupMember]
GROUP: StructOf[DescribedGroup]
RESPONSE: MessageOf[DescribeGroupsResponse]
