# Generated from heartbeat.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row

class HeartbeatRequest(Row):
    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None
    def __init__(
        self,
        *,
        group_id: str = ...,
        generation_id: int = ...,
        member_id: str = ...,
        group_instance_id: str | None = ...,
    ) -> None: ...

class HeartbeatResponse(Row):
    throttle_time_ms: int
    error_code: int
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
    ) -> None: ...

REQUEST: MessageOf[HeartbeatRequest]
RESPONSE: MessageOf[HeartbeatResponse]
