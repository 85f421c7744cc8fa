# Generated from consumer_group_describe.py by python -m samsa.wire.stubs.
import uuid

from samsa.wire.schema import MessageOf, Row, StructOf

class ConsumerGroupDescribeRequest(Row):
    group_ids: list[str]
    include_authorized_operations: bool
    def __init__(
        self,
        *,
        group_ids: list[str] = ...,
        include_authorized_operations: bool = ...,
    ) -> None: ...

class TopicPartitions(Row):
    topic_id: uuid.UUID
    topic_name: str
    partitions: list[int]
    def __init__(
        self,
        *,
        topic_id: uuid.UUID = ...,
        topic_name: str = ...,
        partitions: list[int] = ...,
    ) -> None: ...

class Assignment(Row):
    topic_partitions: list[TopicPartitions]
    def __init__(
        self,
        *,
        topic_partitions: list[TopicPartitions] = ...,
    ) -> None: ...

class Member(Row):
    member_id: str
    instance_id: str | None
    rack_id: str | None
    member_epoch: int
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None
    assignment: Assignment
    target_assignment: Assignment
    member_type: int
    def __init__(
        self,
        *,
        member_id: str = ...,
        instance_id: str | None = ...,
        rack_id: str | None = ...,
        member_epoch: int = ...,
        client_id: str = ...,
        client_host: str = ...,
        subscribed_topic_names: list[str] = ...,
        subscribed_topic_regex: str | None = ...,
        assignment: Assignment = ...,
        target_assignment: Assignment = ...,
        member_type: int = ...,
    ) -> None: ...

class DescribedGroup(Row):
    error_code: int
    error_message: str | None
    group_id: str
    group_state: str
    group_epoch: int
    assignment_epoch: int
    assignor_name: str
    members: list[Member]
    authorized_operations: int
    def __init__(
        self,
        *,
        error_code: int = ...,
        error_message: str | None = ...,
        group_id: str = ...,
        group_state: str = ...,
        group_epoch: int = ...,
        assignment_epoch: int = ...,
        assignor_name: str = ...,
        members: list[Member] = ...,
        authorized_operations: int = ...,
    ) -> None: ...

class ConsumerGroupDescribeResponse(Row):
    throttle_time_ms: int
    groups: list[DescribedGroup]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        groups: list[DescribedGroup] = ...,
    ) -> None: ...

REQUEST: MessageOf[ConsumerGroupDescribeRequest]
TOPIC_PARTITIONS: StructOf[TopicPartitions]
ASSIGNMENT: StructOf[Assignment]
MEMBER: StructOf[Member]
GROUP: StructOf[DescribedGroup]
RESPONSE: MessageOf[ConsumerGroupDescribeResponse]
