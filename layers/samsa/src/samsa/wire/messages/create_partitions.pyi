# Generated from create_partitions.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class CreatePartitionsAssignment(Row):
    broker_ids: list[int]
    def __init__(
        self,
        *,
        broker_ids: list[int] = ...,
    ) -> None: ...

class CreatePartitionsTopic(Row):
    name: str
    count: int
    assignments: list[CreatePartitionsAssignment] | None
    def __init__(
        self,
        *,
        name: str = ...,
        count: int = ...,
        assignments: list[CreatePartitionsAssignment] | None = ...,
    ) -> None: ...

class CreatePartitionsRequest(Row):
    topics: list[CreatePartitionsTopic]
    timeout_ms: int
    validate_only: bool
    def __init__(
        self,
        *,
        topics: list[CreatePartitionsTopic] = ...,
        timeout_ms: int = ...,
        validate_only: bool = ...,
    ) -> None: ...

class CreatePartitionsTopicResult(Row):
    name: str
    error_code: int
    error_message: str | None
    def __init__(
        self,
        *,
        name: str = ...,
        error_code: int = ...,
        error_message: str | None = ...,
    ) -> None: ...

class CreatePartitionsResponse(Row):
    throttle_time_ms: int
    results: list[CreatePartitionsTopicResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        results: list[CreatePartitionsTopicResult] = ...,
    ) -> None: ...

ASSIGNMENT: StructOf[CreatePartitionsAssignment]
TOPIC: StructOf[CreatePartitionsTopic]
REQUEST: MessageOf[CreatePartitionsRequest]
TOPIC_RESPONSE: StructOf[CreatePartitionsTopicResult]
RESPONSE: MessageOf[CreatePartitionsResponse]
