# Generated from delete_records.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class DeleteRecordsPartition(Row):
    partition_index: int
    offset: int
    def __init__(
        self,
        *,
        partition_index: int = ...,
        offset: int = ...,
    ) -> None: ...

class DeleteRecordsTopic(Row):
    name: str
    partitions: list[DeleteRecordsPartition]
    def __init__(
        self,
        *,
        name: str = ...,
        partitions: list[DeleteRecordsPartition] = ...,
    ) -> None: ...

class DeleteRecordsRequest(Row):
    topics: list[DeleteRecordsTopic]
    timeout_ms: int
    def __init__(
        self,
        *,
        topics: list[DeleteRecordsTopic] = ...,
        timeout_ms: int = ...,
    ) -> None: ...

class DeleteRecordsPartitionResult(Row):
    partition_index: int
    low_watermark: int
    error_code: int
    def __init__(
        self,
        *,
        partition_index: int = ...,
        low_watermark: int = ...,
        error_code: int = ...,
    ) -> None: ...

class DeleteRecordsTopicResult(Row):
    name: str
    partitions: list[DeleteRecordsPartitionResult]
    def __init__(
        self,
        *,
        name: str = ...,
        partitions: list[DeleteRecordsPartitionResult] = ...,
    ) -> None: ...

class DeleteRecordsResponse(Row):
    throttle_time_ms: int
    topics: list[DeleteRecordsTopicResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: list[DeleteRecordsTopicResult] = ...,
    ) -> None: ...

PARTITION: StructOf[DeleteRecordsPartition]
TOPIC: StructOf[DeleteRecordsTopic]
REQUEST: MessageOf[DeleteRecordsRequest]
PARTITION_RESPONSE: StructOf[DeleteRecordsPartitionResult]
TOPIC_RESPONSE: StructOf[DeleteRecordsTopicResult]
RESPONSE: MessageOf[DeleteRecordsResponse]
