# Generated from list_offsets.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class ListOffsetsPartition(Row):
    partition_index: int
    current_leader_epoch: int
    timestamp: int
    max_num_offsets: int
    def __init__(
        self,
        *,
        partition_index: int = ...,
        current_leader_epoch: int = ...,
        timestamp: int = ...,
        max_num_offsets: int = ...,
    ) -> None: ...

class ListOffsetsTopic(Row):
    name: str
    partitions: list[ListOffsetsPartition]
    def __init__(
        self,
        *,
        name: str = ...,
        partitions: list[ListOffsetsPartition] = ...,
    ) -> None: ...

class ListOffsetsRequest(Row):
    replica_id: int
    isolation_level: int
    topics: list[ListOffsetsTopic]
    timeout_ms: int
    def __init__(
        self,
        *,
        replica_id: int = ...,
        isolation_level: int = ...,
        topics: list[ListOffsetsTopic] = ...,
        timeout_ms: int = ...,
    ) -> None: ...

class ListOffsetsPartitionResponse(Row):
    partition_index: int
    error_code: int
    old_style_offsets: list[int]
    timestamp: int
    offset: int
    leader_epoch: int
    def __init__(
        self,
        *,
        partition_index: int = ...,
        error_code: int = ...,
        old_style_offsets: list[int] = ...,
        timestamp: int = ...,
        offset: int = ...,
        leader_epoch: int = ...,
    ) -> None: ...

class ListOffsetsTopicResponse(Row):
    name: str
    partitions: list[ListOffsetsPartitionResponse]
    def __init__(
        self,
        *,
        name: str = ...,
        partitions: list[ListOffsetsPartitionResponse] = ...,
    ) -> None: ...

class ListOffsetsResponse(Row):
    throttle_time_ms: int
    topics: list[ListOffsetsTopicResponse]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: list[ListOffsetsTopicResponse] = ...,
    ) -> None: ...

PARTITION: StructOf[ListOffsetsPartition]
TOPIC: StructOf[ListOffsetsTopic]
REQUEST: MessageOf[ListOffsetsRequest]
PARTITION_RESPONSE: StructOf[ListOffsetsPartitionResponse]
TOPIC_RESPONSE: StructOf[ListOffsetsTopicResponse]
RESPONSE: MessageOf[ListOffsetsResponse]
