# Generated from offset_commit.py by python -m samsa.wire.stubs.
import uuid

from samsa.wire.schema import MessageOf, Row, StructOf

class OffsetCommitRequestPartition(Row):
    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    commit_timestamp: int
    committed_metadata: str | None
    def __init__(
        self,
        *,
        partition_index: int = ...,
        committed_offset: int = ...,
        committed_leader_epoch: int = ...,
        commit_timestamp: int = ...,
        committed_metadata: str | None = ...,
    ) -> None: ...

class OffsetCommitRequestTopic(Row):
    name: str
    topic_id: uuid.UUID
    partitions: list[OffsetCommitRequestPartition]
    def __init__(
        self,
        *,
        name: str = ...,
        topic_id: uuid.UUID = ...,
        partitions: list[OffsetCommitRequestPartition] = ...,
    ) -> None: ...

class OffsetCommitRequest(Row):
    group_id: str
    generation_id_or_member_epoch: int
    member_id: str
    group_instance_id: str | None
    retention_time_ms: int
    topics: list[OffsetCommitRequestTopic]
    def __init__(
        self,
        *,
        group_id: str = ...,
        generation_id_or_member_epoch: int = ...,
        member_id: str = ...,
        group_instance_id: str | None = ...,
        retention_time_ms: int = ...,
        topics: list[OffsetCommitRequestTopic] = ...,
    ) -> None: ...

class OffsetCommitResponsePartition(Row):
    partition_index: int
    error_code: int
    def __init__(
        self,
        *,
        partition_index: int = ...,
        error_code: int = ...,
    ) -> None: ...

class OffsetCommitResponseTopic(Row):
    name: str
    topic_id: uuid.UUID
    partitions: list[OffsetCommitResponsePartition]
    def __init__(
        self,
        *,
        name: str = ...,
        topic_id: uuid.UUID = ...,
        partitions: list[OffsetCommitResponsePartition] = ...,
    ) -> None: ...

class OffsetCommitResponse(Row):
    throttle_time_ms: int
    topics: list[OffsetCommitResponseTopic]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: list[OffsetCommitResponseTopic] = ...,
    ) -> None: ...

PARTITION: StructOf[OffsetCommitRequestPartition]
TOPIC: StructOf[OffsetCommitRequestTopic]
REQUEST: MessageOf[OffsetCommitRequest]
PARTITION_RESPONSE: StructOf[OffsetCommitResponsePartition]
TOPIC_RESPONSE: StructOf[OffsetCommitResponseTopic]
RESPONSE: MessageOf[OffsetCommitResponse]
