# Generated from delete_topics.py by python -m samsa.wire.stubs.
import uuid

from samsa.wire.schema import MessageOf, Row, StructOf

class DeleteTopicState(Row):
    name: str | None
    topic_id: uuid.UUID
    def __init__(
        self,
        *,
        name: str | None = ...,
        topic_id: uuid.UUID = ...,
    ) -> None: ...

class DeleteTopicsRequest(Row):
    topics: list[DeleteTopicState]
    topic_names: list[str]
    timeout_ms: int
    def __init__(
        self,
        *,
        topics: list[DeleteTopicState] = ...,
        topic_names: list[str] = ...,
        timeout_ms: int = ...,
    ) -> None: ...

class DeletableTopicResult(Row):
    name: str | None
    topic_id: uuid.UUID
    error_code: int
    error_message: str | None
    def __init__(
        self,
        *,
        name: str | None = ...,
        topic_id: uuid.UUID = ...,
        error_code: int = ...,
        error_message: str | None = ...,
    ) -> None: ...

class DeleteTopicsResponse(Row):
    throttle_time_ms: int
    responses: list[DeletableTopicResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        responses: list[DeletableTopicResult] = ...,
    ) -> None: ...

TOPIC: StructOf[DeleteTopicState]
REQUEST: MessageOf[DeleteTopicsRequest]
TOPIC_RESPONSE: StructOf[DeletableTopicResult]
RESPONSE: MessageOf[DeleteTopicsResponse]
