# Generated from alter_partition_reassignments.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class ReassignablePartition(Row):
    partition_index: int
    replicas: list[int] | None
    def __init__(
        self,
        *,
        partition_index: int = ...,
        replicas: list[int] | None = ...,
    ) -> None: ...

class ReassignableTopic(Row):
    name: str
    partitions: list[ReassignablePartition]
    def __init__(
        self,
        *,
        name: str = ...,
        partitions: list[ReassignablePartition] = ...,
    ) -> None: ...

class AlterPartitionReassignmentsRequest(Row):
    timeout_ms: int
    allow_replication_factor_change: bool
    topics: list[ReassignableTopic]
    def __init__(
        self,
        *,
        timeout_ms: int = ...,
        allow_replication_factor_change: bool = ...,
        topics: list[ReassignableTopic] = ...,
    ) -> None: ...

class ReassignablePartitionResponse(Row):
    partition_index: int
    error_code: int
    error_message: str | None
    def __init__(
        self,
        *,
        partition_index: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
    ) -> None: ...

class ReassignableTopicResponse(Row):
    name: str
    partitions: list[ReassignablePartitionResponse]
    def __init__(
        self,
        *,
        name: str = ...,
        partitions: list[ReassignablePartitionResponse] = ...,
    ) -> None: ...

class AlterPartitionReassignmentsResponse(Row):
    throttle_time_ms: int
    allow_replication_factor_change: bool
    error_code: int
    error_message: str | None
    responses: list[ReassignableTopicResponse]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        allow_replication_factor_change: bool = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        responses: list[ReassignableTopicResponse] = ...,
    ) -> None: ...

PARTITION: StructOf[ReassignablePartition]
TOPIC: StructOf[ReassignableTopic]
REQUEST: MessageOf[AlterPartitionReassignmentsRequest]
PARTITION_RESPONSE: StructOf[ReassignablePartitionResponse]
TOPIC_RESPONSE: StructOf[ReassignableTopicResponse]
RESPONSE: MessageOf[AlterPartitionReassignmentsResponse]
