# Generated from join_group.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class JoinGroupRequestProtocol(Row):
    name: str
    metadata: bytes | memoryview
    def __init__(
        self,
        *,
        name: str = ...,
        metadata: bytes | memoryview = ...,
    ) -> None: ...

class JoinGroupRequest(Row):
    group_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    member_id: str
    group_instance_id: str | None
    protocol_type: str
    protocols: list[JoinGroupRequestProtocol]
    reason: str | None
    def __init__(
        self,
        *,
        group_id: str = ...,
        session_timeout_ms: int = ...,
        rebalance_timeout_ms: int = ...,
        member_id: str = ...,
        group_instance_id: str | None = ...,
        protocol_type: str = ...,
        protocols: list[JoinGroupRequestProtocol] = ...,
        reason: str | None = ...,
    ) -> None: ...

class JoinGroupResponseMember(Row):
    member_id: str
    group_instance_id: str | None
    metadata: bytes | memoryview
    def __init__(
        self,
        *,
        member_id: str = ...,
        group_instance_id: str | None = ...,
        metadata: bytes | memoryview = ...,
    ) -> None: ...

class JoinGroupResponse(Row):
    throttle_time_ms: int
    error_code: int
    generation_id: int
    protocol_type: str | None
    protocol_name: str | None
    leader: str
    skip_assignment: bool
    member_id: str
    members: list[JoinGroupResponseMember]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        generation_id: int = ...,
        protocol_type: str | None = ...,
        protocol_name: str | None = ...,
        leader: str = ...,
        skip_assignment: bool = ...,
        member_id: str = ...,
        members: list[JoinGroupResponseMember] = ...,
    ) -> None: ...

PROTOCOL: StructOf[JoinGroupRequestProtocol]
REQUEST: MessageOf[JoinGroupRequest]
MEMBER: StructOf[JoinGroupResponseMember]
RESPONSE: MessageOf[JoinGroupResponse]
