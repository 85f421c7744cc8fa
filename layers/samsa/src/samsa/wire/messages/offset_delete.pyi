# Generated from offset_delete.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class OffsetDeleteRequestPartition(Row):
    partition_index: int
    def __init__(
        self,
        *,
        partition_index: int = ...,
    ) -> None: ...

class OffsetDeleteRequestTopic(Row):
    name: str
    partitions: list[OffsetDeleteRequestPartition]
    def __init__(
        self,
        *,
        name: str = ...,
        partitions: list[OffsetDeleteRequestPartition] = ...,
    ) -> None: ...

class OffsetDeleteRequest(Row):
    group_id: str
    topics: list[OffsetDeleteRequestTopic]
    def __init__(
        self,
        *,
        group_id: str = ...,
        topics: list[OffsetDeleteRequestTopic] = ...,
    ) -> None: ...

class OffsetDeleteResponsePartition(Row):
    partition_index: int
    error_code: int
    def __init__(
        self,
        *,
        partition_index: int = ...,
        error_code: int = ...,
    ) -> None: ...

class OffsetDeleteResponseTopic(Row):
    name: str
    partitions: list[OffsetDeleteResponsePartition]
    def __init__(
        self,
        *,
        name: str = ...,
        partitions: list[OffsetDeleteResponsePartition] = ...,
    ) -> None: ...

class OffsetDeleteResponse(Row):
    error_code: int
    throttle_time_ms: int
    topics: list[OffsetDeleteResponseTopic]
    def __init__(
        self,
        *,
        error_code: int = ...,
        throttle_time_ms: int = ...,
        topics: list[OffsetDeleteResponseTopic] = ...,
    ) -> None: ...

PARTITION: StructOf[OffsetDeleteRequestPartition]
TOPIC: StructOf[OffsetDeleteRequestTopic]
REQUEST: MessageOf[OffsetDeleteRequest]
PARTITION_RESPONSE: StructOf[OffsetDeleteResponsePartition]
TOPIC_RESPONSE: StructOf[OffsetDeleteResponseTopic]
RESPONSE: MessageOf[OffsetDeleteResponse]
