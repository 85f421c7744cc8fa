# Generated from txn_offset_commit.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class TxnOffsetCommitRequestPartition(Row):
    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None
    def __init__(
        self,
        *,
        partition_index: int = ...,
        committed_offset: int = ...,
        committed_leader_epoch: int = ...,
        committed_metadata: str | None = ...,
    ) -> None: ...

class TxnOffsetCommitRequestTopic(Row):
    name: str
    partitions: list[TxnOffsetCommitRequestPartition]
    def __init__(
        self,
        *,
        name: str = ...,
        partitions: list[TxnOffsetCommitRequestPartition] = ...,
    ) -> None: ...

class TxnOffsetCommitRequest(Row):
    transactional_id: str
    group_id: str
    producer_id: int
    producer_epoch: int
    generation_id: int
    member_id: str
    group_instance_id: str | None
    topics: list[TxnOffsetCommitRequestTopic]
    def __init__(
        self,
        *,
        transactional_id: str = ...,
        group_id: str = ...,
        producer_id: int = ...,
        producer_epoch: int = ...,
        generation_id: int = ...,
        member_id: str = ...,
        group_instance_id: str | None = ...,
        topics: list[TxnOffsetCommitRequestTopic] = ...,
    ) -> None: ...

class TxnOffsetCommitResponsePartition(Row):
    partition_index: int
    error_code: int
    def __init__(
        self,
        *,
        partition_index: int = ...,
        error_code: int = ...,
    ) -> None: ...

class TxnOffsetCommitResponseTopic(Row):
    name: str
    partitions: list[TxnOffsetCommitResponsePartition]
    def __init__(
        self,
        *,
        name: str = ...,
        partitions: list[TxnOffsetCommitResponsePartition] = ...,
    ) -> None: ...

class TxnOffsetCommitResponse(Row):
    throttle_time_ms: int
    topics: list[TxnOffsetCommitResponseTopic]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: list[TxnOffsetCommitResponseTopic] = ...,
    ) -> None: ...

PARTITION: StructOf[TxnOffsetCommitRequestPartition]
TOPIC: StructOf[TxnOffsetCommitRequestTopic]
REQUEST: MessageOf[TxnOffsetCommitRequest]
PARTITION_RESPONSE: StructOf[TxnOffsetCommitResponsePartition]
TOPIC_RESPONSE: StructOf[TxnOffsetCommitResponseTopic]
RESPONSE: MessageOf[TxnOffsetCommitResponse]
