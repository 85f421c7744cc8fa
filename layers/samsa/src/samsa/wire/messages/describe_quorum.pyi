# Generated from describe_quorum.py by python -m samsa.wire.stubs.
import uuid

from samsa.wire.schema import MessageOf, Row, StructOf

class PartitionData(Row):
    partition_index: int
    def __init__(
        self,
        *,
        partition_index: int = ...,
    ) -> None: ...

class TopicData(Row):
    topic_name: str
    partitions: list[PartitionData]
    def __init__(
        self,
        *,
        topic_name: str = ...,
        partitions: list[PartitionData] = ...,
    ) -> None: ...

class DescribeQuorumRequest(Row):
    topics: list[TopicData]
    def __init__(
        self,
        *,
        topics: list[TopicData] = ...,
    ) -> None: ...

class ReplicaState(Row):
    replica_id: int
    replica_directory_id: uuid.UUID
    log_end_offset: int
    last_fetch_timestamp: int
    last_caught_up_timestamp: int
    def __init__(
        self,
        *,
        replica_id: int = ...,
        replica_directory_id: uuid.UUID = ...,
        log_end_offset: int = ...,
        last_fetch_timestamp: int = ...,
        last_caught_up_timestamp: int = ...,
    ) -> None: ...

class PartitionDataResponse(Row):
    partition_index: int
    error_code: int
    error_message: str | None
    leader_id: int
    leader_epoch: int
    high_watermark: int
    current_voters: list[ReplicaState]
    observers: list[ReplicaState]
    def __init__(
        self,
        *,
        partition_index: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        leader_id: int = ...,
        leader_epoch: int = ...,
        high_watermark: int = ...,
        current_voters: list[ReplicaState] = ...,
        observers: list[ReplicaState] = ...,
    ) -> None: ...

class TopicDataResponse(Row):
    topic_name: str
    partitions: list[PartitionDataResponse]
    def __init__(
        self,
        *,
        topic_name: str = ...,
        partitions: list[PartitionDataResponse] = ...,
    ) -> None: ...

class Listener(Row):
    name: str
    host: str
    port: int
    def __init__(
        self,
        *,
        name: str = ...,
        host: str = ...,
        port: int = ...,
    ) -> None: ...

class Node(Row):
    node_id: int
    listeners: list[Listener]
    def __init__(
        self,
        *,
        node_id: int = ...,
        listeners: list[Listener] = ...,
    ) -> None: ...

class DescribeQuorumResponse(Row):
    error_code: int
    error_message: str | None
    topics: list[TopicDataResponse]
    nodes: list[Node]
    def __init__(
        self,
        *,
        error_code: int = ...,
        error_message: str | None = ...,
        topics: list[TopicDataResponse] = ...,
        nodes: list[Node] = ...,
    ) -> None: ...

PARTITION: StructOf[PartitionData]
TOPIC: StructOf[TopicData]
REQUEST: MessageOf[DescribeQuorumRequest]
REPLICA: StructOf[ReplicaState]
PARTITION_RESPONSE: StructOf[PartitionDataResponse]
TOPIC_RESPONSE: StructOf[TopicDataResponse]
LISTENER: StructOf[Listener]
NODE: StructOf[Node]
RESPONSE: MessageOf[DescribeQuorumResponse]
