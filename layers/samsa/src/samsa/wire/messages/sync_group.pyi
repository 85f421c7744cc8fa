# Generated from sync_group.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class SyncGroupRequestAssignment(Row):
    member_id: str
    assignment: bytes | memoryview
    def __init__(
        self,
        *,
        member_id: str = ...,
        assignment: bytes | memoryview = ...,
    ) -> None: ...

class SyncGroupRequest(Row):
    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None
    protocol_type: str | None
    protocol_name: str | None
    assignments: list[SyncGroupRequestAssignment]
    def __init__(
        self,
        *,
        group_id: str = ...,
        generation_id: int = ...,
        member_id: str = ...,
        group_instance_id: str | None = ...,
        protocol_type: str | None = ...,
        protocol_name: str | None = ...,
        assignments: list[SyncGroupRequestAssignment] = ...,
    ) -> None: ...

class SyncGroupResponse(Row):
    throttle_time_ms: int
    error_code: int
    protocol_type: str | None
    protocol_name: str | None
    assignment: bytes | memoryview
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        protocol_type: str | None = ...,
        protocol_name: str | None = ...,
        assignment: bytes | memoryview = ...,
    ) -> None: ...

ASSIGNMENT: StructOf[SyncGroupRequestAssignment]
REQUEST: MessageOf[SyncGroupRequest]
RESPONSE: MessageOf[SyncGroupResponse]
