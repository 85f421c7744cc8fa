# Generated from metadata.py by python -m samsa.wire.stubs.
import uuid

from samsa.wire.schema import MessageOf, Row, StructOf

class MetadataRequestTopic(Row):
    topic_id: uuid.UUID
    name: str | None
    def __init__(
        self,
        *,
        topic_id: uuid.UUID = ...,
        name: str | None = ...,
    ) -> None: ...

class MetadataRequest(Row):
    topics: list[MetadataRequestTopic] | None
    allow_auto_topic_creation: bool
    include_cluster_authorized_operations: bool
    include_topic_authorized_operations: bool
    def __init__(
        self,
        *,
        topics: list[MetadataRequestTopic] | None = ...,
        allow_auto_topic_creation: bool = ...,
        include_cluster_authorized_operations: bool = ...,
        include_topic_authorized_operations: bool = ...,
    ) -> None: ...

class MetadataResponseBroker(Row):
    node_id: int
    host: str
    port: int
    rack: str | None
    def __init__(
        self,
        *,
        node_id: int = ...,
        host: str = ...,
        port: int = ...,
        rack: str | None = ...,
    ) -> None: ...

class MetadataResponsePartition(Row):
    error_code: int
    partition_index: int
    leader_id: int
    leader_epoch: int
    replica_nodes: list[int]
    isr_nodes: list[int]
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
        offline_replicas: list[int] = ...,
    ) -> None: ...

class MetadataResponseTopic(Row):
    error_code: int
    name: str | None
    topic_id: uuid.UUID
    is_internal: bool
    partitions: list[MetadataResponsePartition]
    topic_authorized_operations: int
    def __init__(
        self,
        *,
        error_code: int = ...,
        name: str | None = ...,
        topic_id: uuid.UUID = ...,
        is_internal: bool = ...,
        partitions: list[MetadataResponsePartition] = ...,
        topic_authorized_operations: int = ...,
    ) -> None: ...

class MetadataResponse(Row):
    throttle_time_ms: int
    brokers: list[MetadataResponseBroker]
    cluster_id: str | None
    controller_id: int
    topics: list[MetadataResponseTopic]
    cluster_authorized_operations: int
    error_code: int
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        brokers: list[MetadataResponseBroker] = ...,
        cluster_id: str | None = ...,
        controller_id: int = ...,
        topics: list[MetadataResponseTopic] = ...,
        cluster_authorized_operations: int = ...,
        error_code: int = ...,
    ) -> None: ...

NO_OPERATIONS: int
TOPIC: StructOf[MetadataRequestTopic]
REQUEST: MessageOf[MetadataRequest]
BROKER: StructOf[MetadataResponseBroker]
PARTITION_RESPONSE: StructOf[MetadataResponsePartition]
TOPIC_RESPONSE: StructOf[MetadataResponseTopic]
RESPONSE: MessageOf[MetadataResponse]
