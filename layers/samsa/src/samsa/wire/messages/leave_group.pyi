# Generated from leave_group.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class MemberIdentity(Row):
    member_id: str
    group_instance_id: str | None
    reason: str | None
    def __init__(
        self,
        *,
        member_id: str = ...,
        group_instance_id: str | None = ...,
        reason: str | None = ...,
    ) -> None: ...

class LeaveGroupRequest(Row):
    group_id: str
    member_id: str
    members: list[MemberIdentity]
    def __init__(
        self,
        *,
        group_id: str = ...,
        member_id: str = ...,
        members: list[MemberIdentity] = ...,
    ) -> None: ...

class MemberResponse(Row):
    member_id: str
    group_instance_id: str | None
    error_code: int
    def __init__(
        self,
        *,
        member_id: str = ...,
        group_instance_id: str | None = ...,
        error_code: int = ...,
    ) -> None: ...

class LeaveGroupResponse(Row):
    throttle_time_ms: int
    error_code: int
    members: list[MemberResponse]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        members: list[MemberResponse] = ...,
    ) -> None: ...

MEMBER: StructOf[MemberIdentity]
REQUEST: MessageOf[LeaveGroupRequest]
MEMBER_RESPONSE: StructOf[MemberResponse]
RESPONSE: MessageOf[LeaveGroupResponse]
