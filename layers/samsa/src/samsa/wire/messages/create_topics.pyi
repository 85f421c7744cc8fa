# Generated from create_topics.py by python -m samsa.wire.stubs.
import uuid

from samsa.wire.schema import MessageOf, Row, StructOf

class CreatableReplicaAssignment(Row):
    partition_index: int
    broker_ids: list[int]
    def __init__(
        self,
        *,
        partition_index: int = ...,
        broker_ids: list[int] = ...,
    ) -> None: ...

class CreatableTopicConfig(Row):
    name: str
    value: str | None
    def __init__(
        self,
        *,
        name: str = ...,
        value: str | None = ...,
    ) -> None: ...

class CreatableTopic(Row):
    name: str
    num_partitions: int
    replication_factor: int
    assignments: list[CreatableReplicaAssignment]
    configs: list[CreatableTopicConfig]
    def __init__(
        self,
        *,
        name: str = ...,
        num_partitions: int = ...,
        replication_factor: int = ...,
        assignments: list[CreatableReplicaAssignment] = ...,
        configs: list[CreatableTopicConfig] = ...,
    ) -> None: ...

class CreateTopicsRequest(Row):
    topics: list[CreatableTopic]
    timeout_ms: int
    validate_only: bool
    def __init__(
        self,
        *,
        topics: list[CreatableTopic] = ...,
        timeout_ms: int = ...,
        validate_only: bool = ...,
    ) -> None: ...

class CreatableTopicConfigs(Row):
    name: str
    value: str | None
    read_only: bool
    config_source: int
    is_sensitive: bool
    def __init__(
        self,
        *,
        name: str = ...,
        value: str | None = ...,
        read_only: bool = ...,
        config_source: int = ...,
        is_sensitive: bool = ...,
    ) -> None: ...

class CreatableTopicResult(Row):
    name: str
    topic_id: uuid.UUID
    error_code: int
    error_message: str | None
    topic_config_error_code: int
    num_partitions: int
    replication_factor: int
    configs: list[CreatableTopicConfigs] | None
    def __init__(
        self,
        *,
        name: str = ...,
        topic_id: uuid.UUID = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        topic_config_error_code: int = ...,
        num_partitions: int = ...,
        replication_factor: int = ...,
        configs: list[CreatableTopicConfigs] | None = ...,
    ) -> None: ...

class CreateTopicsResponse(Row):
    throttle_time_ms: int
    topics: list[CreatableTopicResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: list[CreatableTopicResult] = ...,
    ) -> None: ...

ASSIGNMENT: StructOf[CreatableReplicaAssignment]
CONFIG: StructOf[CreatableTopicConfig]
TOPIC: StructOf[CreatableTopic]
REQUEST: MessageOf[CreateTopicsRequest]
CONFIG_RESPONSE: StructOf[CreatableTopicConfigs]
TOPIC_RESPONSE: StructOf[CreatableTopicResult]
RESPONSE: MessageOf[CreateTopicsResponse]
