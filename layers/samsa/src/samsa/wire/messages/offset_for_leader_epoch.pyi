# Generated from offset_for_leader_epoch.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class OffsetForLeaderPartition(Row):
    partition: int
    current_leader_epoch: int
    leader_epoch: int
    def __init__(
        self,
        *,
        partition: int = ...,
        current_leader_epoch: int = ...,
        leader_epoch: int = ...,
    ) -> None: ...

class OffsetForLeaderTopic(Row):
    topic: str
    partitions: list[OffsetForLeaderPartition]
    def __init__(
        self,
        *,
        topic: str = ...,
        partitions: list[OffsetForLeaderPartition] = ...,
    ) -> None: ...

class OffsetForLeaderEpochRequest(Row):
    replica_id: int
    topics: list[OffsetForLeaderTopic]
    def __init__(
        self,
        *,
        replica_id: int = ...,
        topics: list[OffsetForLeaderTopic] = ...,
    ) -> None: ...

class EpochEndOffset(Row):
    error_code: int
    partition: int
    leader_epoch: int
    end_offset: int
    def __init__(
        self,
        *,
        error_code: int = ...,
        partition: int = ...,
        leader_epoch: int = ...,
        end_offset: int = ...,
    ) -> None: ...

class OffsetForLeaderTopicResult(Row):
    topic: str
    partitions: list[EpochEndOffset]
    def __init__(
        self,
        *,
        topic: str = ...,
        partitions: list[EpochEndOffset] = ...,
    ) -> None: ...

class OffsetForLeaderEpochResponse(Row):
    throttle_time_ms: int
    topics: list[OffsetForLeaderTopicResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: list[OffsetForLeaderTopicResult] = ...,
    ) -> None: ...

PARTITION: StructOf[OffsetForLeaderPartition]
TOPIC: StructOf[OffsetForLeaderTopic]
REQUEST: MessageOf[OffsetForLeaderEpochRequest]
PARTITION_RESPONSE: StructOf[EpochEndOffset]
TOPIC_RESPONSE: StructOf[OffsetForLeaderTopicResult]
RESPONSE: MessageOf[OffsetForLeaderEpochResponse]
