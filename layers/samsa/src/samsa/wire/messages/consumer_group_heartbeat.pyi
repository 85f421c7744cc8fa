# Generated from consumer_group_heartbeat.py by python -m samsa.wire.stubs.
import uuid

from samsa.wire.schema import MessageOf, Row, StructOf

class TopicPartitions(Row):
    topic_id: uuid.UUID
    partitions: list[int]
    def __init__(
        self,
        *,
        topic_id: uuid.UUID = ...,
        partitions: list[int] = ...,
    ) -> None: ...

class ConsumerGroupHeartbeatRequest(Row):
    group_id: str
    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int
    subscribed_topic_names: list[str] | None
    subscribed_topic_regex: str | None
    server_assignor: str | None
    topic_partitions: list[TopicPartitions] | None
    def __init__(
        self,
        *,
        group_id: str = ...,
        member_id: str = ...,
        member_epoch: int = ...,
        instance_id: str | None = ...,
        rack_id: str | None = ...,
        rebalance_timeout_ms: int = ...,
        subscribed_topic_names: list[str] | None = ...,
        subscribed_topic_regex: str | None = ...,
        server_assignor: str | None = ...,
        topic_partitions: list[TopicPartitions] | None = ...,
    ) -> None: ...

class Assignment(Row):
    topic_partitions: list[TopicPartitions]
    def __init__(
        self,
        *,
        topic_partitions: list[TopicPartitions] = ...,
    ) -> None: ...

class ConsumerGroupHeartbeatResponse(Row):
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    member_id: str | None
    member_epoch: int
    heartbeat_interval_ms: int
    assignment: Assignment | None
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        member_id: str | None = ...,
        member_epoch: int = ...,
        heartbeat_interval_ms: int = ...,
        assignment: Assignment | None = ...,
    ) -> None: ...

TOPIC_PARTITIONS: StructOf[TopicPartitions]
REQUEST: MessageOf[ConsumerGroupHeartbeatRequest]
ASSIGNMENT: StructOf[Assignment]
RESPONSE: MessageOf[ConsumerGroupHeartbeatResponse]
