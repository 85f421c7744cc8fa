# Generated from describe_topic_partitions.py by python -m samsa.wire.stubs.
import uuid

from samsa.wire.schema import MessageOf, Row, StructOf

class TopicRequest(Row):
    name: str
    def __init__(
        self,
        *,
        name: str = ...,
    ) -> None: ...

class Cursor(Row):
    topic_name: str
    partition_index: int
    def __init__(
        self,
        *,
        topic_name: str = ...,
        partition_index: int = ...,
    ) -> None: ...

class DescribeTopicPartitionsRequest(Row):
    topics: list[TopicRequest]
    response_partition_limit: int
    cursor: Cursor | None
    def __init__(
        self,
        *,
        topics: list[TopicRequest] = ...,
        response_partition_limit: int = ...,
        cursor: Cursor | None = ...,
    ) -> None: ...

class DescribeTopicPartitionsResponsePartition(Row):
    error_code: int
    partition_index: int
    leader_id: int
    leader_epoch: int
    replica_nodes: list[int]
    isr_nodes: list[int]
    eligible_leader_replicas: list[int] | None
    last_known_elr: list[int] | None
    offline_replicas: list[int]
    def __init__(
        self,
        *,
        error_code: int = ...,
        partition_index: int = ...,
        leader_id: int = ...,
        leader_epoch: int = ...,
        replica_nodes: list[int] = ...,
        isr_nodes: list[int] = ...,
        eligible_leader_replicas: list[int] | None = ...,
        last_known_elr: list[int] | None = ...,
        offline_replicas: list[int] = ...,
    ) -> None: ...

class DescribeTopicPartitionsResponseTopic(Row):
    error_code: int
    name: str | None
    topic_id: uuid.UUID
    is_internal: bool
    partitions: list[DescribeTopicPartitionsResponsePartition]
    topic_authorized_operations: int
    def __init__(
        self,
        *,
        error_code: int = ...,
        name: str | None = ...,
        topic_id: uuid.UUID = ...,
        is_internal: bool = ...,
        partitions: list[DescribeTopicPartitionsResponsePartition] = ...,
        topic_authorized_operations: int = ...,
    ) -> None: ...

class DescribeTopicPartitionsResponse(Row):
    throttle_time_ms: int
    topics: list[DescribeTopicPartitionsResponseTopic]
    next_cursor: Cursor | None
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: list[DescribeTopicPartitionsResponseTopic] = ...,
        next_cursor: Cursor | None = ...,
    ) -> None: ...

TOPIC: StructOf[TopicRequest]
CURSOR: StructOf[Cursor]
REQUEST: MessageOf[DescribeTopicPartitionsRequest]
PARTITION_RESPONSE: StructOf[DescribeTopicPartitionsResponsePartition]
TOPIC_RESPONSE: StructOf[DescribeTopicPartitionsResponseTopic]
RESPONSE: MessageOf[DescribeTopicPartitionsResponse]
