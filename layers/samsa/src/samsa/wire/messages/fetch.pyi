# Generated from fetch.py by python -m samsa.wire.stubs.
import uuid

from samsa.wire.schema import MessageOf, Row, Segment, StructOf

class ReplicaState(Row):
    replica_id: int
    replica_epoch: int
    def __init__(
        self,
        *,
        replica_id: int = ...,
        replica_epoch: int = ...,
    ) -> None: ...

class FetchPartition(Row):
    partition: int
    current_leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    log_start_offset: int
    partition_max_bytes: int
    replica_directory_id: uuid.UUID
    high_watermark: int
    def __init__(
        self,
        *,
        partition: int = ...,
        current_leader_epoch: int = ...,
        fetch_offset: int = ...,
        last_fetched_epoch: int = ...,
        log_start_offset: int = ...,
        partition_max_bytes: int = ...,
        replica_directory_id: uuid.UUID = ...,
        high_watermark: int = ...,
    ) -> None: ...

class FetchTopic(Row):
    topic: str
    topic_id: uuid.UUID
    partitions: list[FetchPartition]
    def __init__(
        self,
        *,
        topic: str = ...,
        topic_id: uuid.UUID = ...,
        partitions: list[FetchPartition] = ...,
    ) -> None: ...

class ForgottenTopic(Row):
    topic: str
    topic_id: uuid.UUID
    partitions: list[int]
    def __init__(
        self,
        *,
        topic: str = ...,
        topic_id: uuid.UUID = ...,
        partitions: list[int] = ...,
    ) -> None: ...

class FetchRequest(Row):
    cluster_id: str | None
    replica_id: int
    replica_state: ReplicaState
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    isolation_level: int
    session_id: int
    session_epoch: int
    topics: list[FetchTopic]
    forgotten_topics_data: list[ForgottenTopic]
    rack_id: str
    def __init__(
        self,
        *,
        cluster_id: str | None = ...,
        replica_id: int = ...,
        replica_state: ReplicaState = ...,
        max_wait_ms: int = ...,
        min_bytes: int = ...,
        max_bytes: int = ...,
        isolation_level: int = ...,
        session_id: int = ...,
        session_epoch: int = ...,
        topics: list[FetchTopic] = ...,
        forgotten_topics_data: list[ForgottenTopic] = ...,
        rack_id: str = ...,
    ) -> None: ...

class EpochEndOffset(Row):
    epoch: int
    end_offset: int
    def __init__(
        self,
        *,
        epoch: int = ...,
        end_offset: int = ...,
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

class SnapshotId(Row):
    end_offset: int
    epoch: int
    def __init__(
        self,
        *,
        end_offset: int = ...,
        epoch: int = ...,
    ) -> None: ...

class AbortedTransaction(Row):
    producer_id: int
    first_offset: int
    def __init__(
        self,
        *,
        producer_id: int = ...,
        first_offset: int = ...,
    ) -> None: ...

class PartitionData(Row):
    partition_index: int
    error_code: int
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    diverging_epoch: EpochEndOffset
    current_leader: LeaderIdAndEpoch
    snapshot_id: SnapshotId
    aborted_transactions: list[AbortedTransaction] | None
    preferred_read_replica: int
    records: memoryview | None
    def __init__(
        self,
        *,
        partition_index: int = ...,
        error_code: int = ...,
        high_watermark: int = ...,
        last_stable_offset: int = ...,
        log_start_offset: int = ...,
        diverging_epoch: EpochEndOffset = ...,
        current_leader: LeaderIdAndEpoch = ...,
        snapshot_id: SnapshotId = ...,
        aborted_transactions: list[AbortedTransaction] | None = ...,
        preferred_read_replica: int = ...,
        records: Segment = ...,
    ) -> None: ...

class FetchableTopicResponse(Row):
    topic: str
    topic_id: uuid.UUID
    partitions: list[PartitionData]
    def __init__(
        self,
        *,
        topic: str = ...,
        topic_id: uuid.UUID = ...,
        partitions: list[PartitionData] = ...,
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

class FetchResponse(Row):
    throttle_time_ms: int
    error_code: int
    session_id: int
    responses: list[FetchableTopicResponse]
    node_endpoints: list[NodeEndpoint]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        session_id: int = ...,
        responses: list[FetchableTopicResponse] = ...,
        node_endpoints: list[NodeEndpoint] = ...,
    ) -> None: ...

REPLICA_STATE: StructOf[ReplicaState]
PARTITION: StructOf[FetchPartition]
TOPIC: StructOf[FetchTopic]
FORGOTTEN_TOPIC: StructOf[ForgottenTopic]
REQUEST: MessageOf[FetchRequest]
DIVERGING_EPOCH: StructOf[EpochEndOffset]
CURRENT_LEADER: StructOf[LeaderIdAndEpoch]
SNAPSHOT_ID: StructOf[SnapshotId]
ABORTED_TRANSACTION: StructOf[AbortedTransaction]
PARTITION_RESPONSE: StructOf[PartitionData]
TOPIC_RESPONSE: StructOf[FetchableTopicResponse]
NODE_ENDPOINT: StructOf[NodeEndpoint]
RESPONSE: MessageOf[FetchResponse]
