# Generated from produce.py by python -m samsa.wire.stubs.
import uuid

from samsa.wire.schema import MessageOf, Row, Segment, StructOf

class PartitionProduceData(Row):
    index: int
    records: memoryview | None
    def __init__(
        self,
        *,
        index: int = ...,
        records: Segment = ...,
    ) -> None: ...

class TopicProduceData(Row):
    name: str
    topic_id: uuid.UUID
    partition_data: list[PartitionProduceData]
    def __init__(
        self,
        *,
        name: str = ...,
        topic_id: uuid.UUID = ...,
        partition_data: list[PartitionProduceData] = ...,
    ) -> None: ...

class ProduceRequest(Row):
    transactional_id: str | None
    acks: int
    timeout_ms: int
    topic_data: list[TopicProduceData]
    def __init__(
        self,
        *,
        transactional_id: str | None = ...,
        acks: int = ...,
        timeout_ms: int = ...,
        topic_data: list[TopicProduceData] = ...,
    ) -> None: ...

class BatchIndexAndErrorMessage(Row):
    batch_index: int
    batch_index_error_message: str | None
    def __init__(
        self,
        *,
        batch_index: int = ...,
        batch_index_error_message: str | None = ...,
    ) -> None: ...

class LeaderIdAndEpoch(Row):
    leader_id: int
    leader_epoch: int
    def __init__(
        self,
        *,
        leader_id: int = ...,
        leader_epoch: int = ...,
    ) -> None: ...

class PartitionProduceResponse(Row):
    index: int
    error_code: int
    base_offset: int
    log_append_time_ms: int
    log_start_offset: int
    record_errors: list[BatchIndexAndErrorMessage]
    error_message: str | None
    current_leader: LeaderIdAndEpoch
    def __init__(
        self,
        *,
        index: int = ...,
        error_code: int = ...,
        base_offset: int = ...,
        log_append_time_ms: int = ...,
        log_start_offset: int = ...,
        record_errors: list[BatchIndexAndErrorMessage] = ...,
        error_message: str | None = ...,
        current_leader: LeaderIdAndEpoch = ...,
    ) -> None: ...

class TopicProduceResponse(Row):
    name: str
    topic_id: uuid.UUID
    partition_responses: list[PartitionProduceResponse]
    def __init__(
        self,
        *,
        name: str = ...,
        topic_id: uuid.UUID = ...,
        partition_responses: list[PartitionProduceResponse] = ...,
    ) -> None: ...

class NodeEndpoint(Row):
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

class ProduceResponse(Row):
    responses: list[TopicProduceResponse]
    throttle_time_ms: int
    node_endpoints: list[NodeEndpoint]
    def __init__(
        self,
        *,
        responses: list[TopicProduceResponse] = ...,
        throttle_time_ms: int = ...,
        node_endpoints: list[NodeEndpoint] = ...,
    ) -> None: ...

PARTITION: StructOf[PartitionProduceData]
TOPIC: StructOf[TopicProduceData]
REQUEST: MessageOf[ProduceRequest]
RECORD_ERROR: StructOf[BatchIndexAndErrorMessage]
CURRENT_LEADER: StructOf[LeaderIdAndEpoch]
PARTITION_RESPONSE: StructOf[PartitionProduceResponse]
TOPIC_RESPONSE: StructOf[TopicProduceResponse]
NODE_ENDPOINT: StructOf[NodeEndpoint]
RESPONSE: MessageOf[ProduceResponse]
