# Generated from describe_producers.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class TopicRequest(Row):
    name: str
    partition_indexes: list[int]
    def __init__(
        self,
        *,
        name: str = ...,
        partition_indexes: list[int] = ...,
    ) -> None: ...

class DescribeProducersRequest(Row):
    topics: list[TopicRequest]
    def __init__(
        self,
        *,
        topics: list[TopicRequest] = ...,
    ) -> None: ...

class ProducerState(Row):
    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int
    current_txn_start_offset: int
    def __init__(
        self,
        *,
        producer_id: int = ...,
        producer_epoch: int = ...,
        last_sequence: int = ...,
        last_timestamp: int = ...,
        coordinator_epoch: int = ...,
        current_txn_start_offset: int = ...,
    ) -> None: ...

class PartitionResponse(Row):
    partition_index: int
    error_code: int
    error_message: str | None
    active_producers: list[ProducerState]
    def __init__(
        self,
        *,
        partition_index: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        active_producers: list[ProducerState] = ...,
    ) -> None: ...

class TopicResponse(Row):
    name: str
    partitions: list[PartitionResponse]
    def __init__(
        self,
        *,
        name: str = ...,
        partitions: list[PartitionResponse] = ...,
    ) -> None: ...

class DescribeProducersResponse(Row):
    throttle_time_ms: int
    topics: list[TopicResponse]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: list[TopicResponse] = ...,
    ) -> None: ...

TOPIC: StructOf[TopicRequest]
REQUEST: MessageOf[DescribeProducersRequest]
PRODUCER: StructOf[ProducerState]
PARTITION_RESPONSE: StructOf[PartitionResponse]
TOPIC_RESPONSE: StructOf[TopicResponse]
RESPONSE: MessageOf[DescribeProducersResponse]
