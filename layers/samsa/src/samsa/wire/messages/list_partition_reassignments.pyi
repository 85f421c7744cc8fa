# Generated from list_partition_reassignments.py by python -m samsa.wire.stubs.
from samsa.wire.schema import MessageOf, Row, StructOf

class ListPartitionReassignmentsTopics(Row):
    name: str
    partition_indexes: list[int]
    def __init__(
        self,
        *,
        name: str = ...,
        partition_indexes: list[int] = ...,
    ) -> None: ...

class ListPartitionReassignmentsRequest(Row):
    timeout_ms: int
    topics: list[ListPartitionReassignmentsTopics] | None
    def __init__(
        self,
        *,
        timeout_ms: int = ...,
        topics: list[ListPartitionReassignmentsTopics] | None = ...,
    ) -> None: ...

class OngoingPartitionReassignment(Row):
    partition_index: int
    replicas: list[int]
    adding_replicas: list[int]
    removing_replicas: list[int]
    def __init__(
        self,
        *,
        partition_index: int = ...,
        replicas: list[int] = ...,
        adding_replicas: list[int] = ...,
        removing_replicas: list[int] = ...,
    ) -> None: ...

class OngoingTopicReassignment(Row):
    name: str
    partitions: list[OngoingPartitionReassignment]
    def __init__(
        self,
        *,
        name: str = ...,
        partitions: list[OngoingPartitionReassignment] = ...,
    ) -> None: ...

class ListPartitionReassignmentsResponse(Row):
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    topics: list[OngoingTopicReassignment]
    def __init__(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        topics: list[OngoingTopicReassignment] = ...,
    ) -> None: ...

TOPIC: StructOf[ListPartitionReassignmentsTopics]
REQUEST: MessageOf[ListPartitionReassignmentsRequest]
PARTITION_RESPONSE: StructOf[OngoingPartitionReassignment]
TOPIC_RESPONSE: StructOf[OngoingTopicReassignment]
RESPONSE: MessageOf[ListPartitionReassignmentsResponse]
