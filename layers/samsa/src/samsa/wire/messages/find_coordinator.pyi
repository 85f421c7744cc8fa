# Generated from find_coordinator.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class FindCoordinatorRequest(Row):
    key: str
    key_type: int
    coordinator_keys: list[str]
    def __init__(
        self,
        *,
        key: str = ...,
        key_type: int = ...,
        coordinator_keys: list[str] = ...,
    ) -> None: ...

class Coordinator(Row):
    key: str
    node_id: int
    host: str
    port: int
    error_code: int
    error_message: str | None
    def __init__(
        self,
        *,
        key: str = ...,
        node_id: int = ...,
        host: str = ...,
        port: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
    ) -> None: ...

class FindCoordinatorResponse(Row):
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    node_id: int
    host: str
    port: int
    coordinators: list[Coordinator]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        node_id: int = ...,
        host: str = ...,
        port: int = ...,
        coordinators: list[Coordinator] = ...,
    ) -> None: ...

REQUEST: MessageOf[FindCoordinatorRequest]
COORDINATOR: StructOf[Coordinator]
RESPONSE: MessageOf[FindCoordinatorResponse]
