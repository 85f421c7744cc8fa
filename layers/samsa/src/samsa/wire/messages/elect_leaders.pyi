# Generated from elect_leaders.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class TopicPartitions(Row):
    topic: str
    partitions: list[int]
    def __init__(
        self,
        *,
        topic: str = ...,
        partitions: list[int] = ...,
    ) -> None: ...

class ElectLeadersRequest(Row):
    election_type: int
    topic_partitions: list[TopicPartitions] | None
    timeout_ms: int
    def __init__(
        self,
        *,
        election_type: int = ...,
        topic_partitions: list[TopicPartitions] | None = ...,
        timeout_ms: int = ...,
    ) -> None: ...

class PartitionResult(Row):
    partition_id: int
    error_code: int
    error_message: str | None
    def __init__(
        self,
        *,
        partition_id: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
    ) -> None: ...

class ReplicaElectionResult(Row):
    topic: str
    partition_result: list[PartitionResult]
    def __init__(
        self,
        *,
        topic: str = ...,
        partition_result: list[PartitionResult] = ...,
    ) -> None: ...

class ElectLeadersResponse(Row):
    throttle_time_ms: int
    error_code: int
    replica_election_results: list[ReplicaElectionResult]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        replica_election_results: list[ReplicaElectionResult] = ...,
    ) -> None: ...

TOPIC: StructOf[TopicPartitions]
REQUEST: MessageOf[ElectLeadersRequest]
PARTITION_RESPONSE: StructOf[PartitionResult]
TOPIC_RESPONSE: StructOf[ReplicaElectionResult]
RESPONSE: MessageOf[ElectLeadersResponse]
